"""K = Σ_i K_i. Eigenvalues add."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from simlab.kernels.kernel import Kernel, Leaf, leaves_of


class Sum(Kernel):
    """Σ_i K_i"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"terms": [{"kind": "ntk", "depth": 3}, {"kind": "laplace", "c": 1.0}]},
    )

    terms: tuple[Kernel, ...] = Field(min_length=1, description="the kernels K_i")

    def leaves(self) -> tuple[Leaf, ...]:
        return leaves_of(self.terms)

    def combine(self, values: Mapping[Leaf, Any]) -> Any:
        return functools.reduce(operator.add, (term.combine(values) for term in self.terms))

    def linear_terms(self) -> list[tuple[float, Kernel]]:
        return [part for term in self.terms for part in term.linear_terms()]

    def polynomial_degree(self) -> int | None:
        degrees = [term.polynomial_degree() for term in self.terms]
        return None if None in degrees else max(d for d in degrees if d is not None)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


def sum_of(*kernels: Kernel) -> Sum:
    """The sum, nested sums made flat."""
    return Sum(terms=tuple(t for k in kernels for t in (k.terms if isinstance(k, Sum) else (k,))))
