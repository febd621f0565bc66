"""K = ∏_i K_i, entry by entry."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from simlab.kernels.kernel import Kernel, Leaf, leaves_of
from simlab.kernels.sum import Sum


class Product(Kernel):
    """∏_i K_i"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"factors": [{"kind": "ntk", "depth": 3}, {"kind": "gaussian", "c": 1.0}]},
    )

    factors: tuple[Kernel, ...] = Field(min_length=1, description="the kernels K_i")

    def leaves(self) -> tuple[Leaf, ...]:
        return leaves_of(self.factors)

    def combine(self, values: Mapping[Leaf, Any]) -> Any:
        return functools.reduce(operator.mul, (factor.combine(values) for factor in self.factors))

    def polynomial_degree(self) -> int | None:
        degrees = [factor.polynomial_degree() for factor in self.factors]
        return None if None in degrees else sum(d for d in degrees if d is not None)

    def __repr__(self) -> str:
        return " * ".join(f"({k!r})" if isinstance(k, Sum) else repr(k) for k in self.factors)


def product_of(*kernels: Kernel) -> Product:
    """The product, nested products made flat."""
    return Product(factors=tuple(f for k in kernels for f in (k.factors if isinstance(k, Product) else (k,))))
