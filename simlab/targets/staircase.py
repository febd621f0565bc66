"""The staircase f(x) = z₁ + z₁z₂ + … + z₁…z_K, z = factor·x at K coordinates: leap 1, learned step by step. MATH §9."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.boolean_function import OnTheCube, Term


class Staircase(OnTheCube):
    """f(x) = z₁ + z₁z₂ + … + z₁…z_K."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"steps": 2, "coordinates": "random"},
        {"steps": 4, "factor": "unit"},
    )

    steps: int = Field(3, ge=1, le=64, description="number K of monomials, of degrees 1 … K")

    def place_count(self) -> int:
        return self.steps

    def expansion(self) -> tuple[tuple[Term, ...], tuple[float, ...]]:
        return tuple(tuple(range(k + 1)) for k in range(self.steps)), (1.0,) * self.steps

    def check(self, dim: int) -> None:
        if self.steps > checks.dimension(dim):
            raise BadInput(f"steps = {self.steps}: must be at most the dimension {dim}")
        super().check(dim)
