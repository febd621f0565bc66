"""K = Σ_i K_i. Eigenvalues add."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from simlab.core.params import Room
from simlab.kernels._kernel import Kernel, Leaf, leaves_of, made


class Params(Kernel):
    terms: Annotated[tuple[Kernel, ...], Room("kernels")] = Field(min_length=1, description="the kernels K_i")

    def leaves(self) -> tuple[Leaf, ...]:
        return leaves_of(self.terms)

    def combine(self, values: Mapping[Leaf, Any]) -> Any:
        first, *rest = (term.combine(values) for term in self.terms)
        for item in rest:
            first = first + item
        return first

    def linear_terms(self) -> list[tuple[float, Kernel]]:
        return [part for term in self.terms for part in term.linear_terms()]

    def polynomial_degree(self) -> int | None:
        degrees = [term.polynomial_degree() for term in self.terms]
        return None if None in degrees else max(d for d in degrees if d is not None)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


EXAMPLES = ({"terms": [{"kind": "ntk", "depth": 3}, {"kind": "laplace", "c": 1.0}]},)


def of(*kernels: Kernel) -> Params:
    """The sum, nested sums made flat."""
    return made(Params, terms=tuple(t for k in kernels for t in (k.terms if isinstance(k, Params) else (k,))))
