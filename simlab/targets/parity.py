"""Sparse parity f(x) = ∏_{i∈S} z_i over k of the d coordinates, at random, z = factor·x: of leap k. MATH §9."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.boolean_function import OnTheCube, Term


class Parity(OnTheCube):
    """f(x) = ∏_{i∈S} z_i, |S| = k."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"degree": 2, "factor": "unit"},
        {"degree": 4, "coordinates": "first"},
    )

    degree: int = Field(3, ge=1, description="number k of coordinates")
    coordinates: Literal["first", "random"] = Field("random", description="which of the d coordinates: first or random")

    def value_kind(self) -> Literal["signs"]:
        return "signs"

    def place_count(self) -> int:
        return self.degree

    def expansion(self) -> tuple[tuple[Term, ...], tuple[float, ...]]:
        return (tuple(range(self.degree)),), (1.0,)

    def check(self, dim: int) -> None:
        if self.degree > checks.dimension(dim):
            raise BadInput(f"degree = {self.degree}: must be at most the dimension {dim}")
        super().check(dim)
