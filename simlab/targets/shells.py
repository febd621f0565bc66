"""Signed shells, g(x) = Σ_i ε_i 1{‖x‖ ∈ Δ_i}, ε_i = ±1, Δ_i the `count` equal parts of [inner, outer). MATH §8.

Where the signs change often, g oscillates with the radius. No two-layer network of a width polynomial in d is near it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator, model_validator

from simlab.targets import radial_function
from simlab.targets.target import Floats, Target, ValueKind


class Shells(Target):
    """g(x) = Σ_i ε_i 1{‖x‖ ∈ Δ_i}."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"outer": 3.0, "count": 4},
        {"inner": 0.5, "outer": 4.0, "count": 40, "signs": "random"},
        {"inner": 1.0, "outer": 3.0, "count": 3, "signs": [1, 1, -1]},
    )
    is_radial: ClassVar[bool] = True

    inner: float = Field(0.0, ge=0, description="where the first shell begins")
    outer: float = Field(gt=0, description="where the last one ends")
    count: int = Field(ge=1, le=100_000, description="number of shells")
    signs: str | tuple[int, ...] = Field(
        "alternating", description='"alternating", "random", or 1 and −1, one per shell'
    )

    @field_validator("signs", mode="before")
    @classmethod
    def _signs(cls, signs: Any) -> Any:
        if isinstance(signs, list | tuple):
            if not all(type(sign) is int and sign in (1, -1) for sign in signs):
                raise ValueError("must hold 1 and -1 only")
            return tuple(signs)
        if signs not in ("alternating", "random"):
            raise ValueError('must be "alternating", "random", or a list of 1 and -1')
        return signs

    @model_validator(mode="after")
    def _together(self) -> Shells:
        if self.inner >= self.outer:
            raise ValueError(f"inner = {self.inner}: must be less than outer = {self.outer}")
        if isinstance(self.signs, tuple) and len(self.signs) != self.count:
            raise ValueError(f"signs has {len(self.signs)} entries: must have count = {self.count}")
        if np.any(np.diff(self.edges()) <= 0):
            raise ValueError(f"count = {self.count}: too many for shells from {self.inner} to {self.outer}")
        return self

    def edges(self) -> Floats:
        """The radii where shells begin and end, (count + 1,)."""
        return np.linspace(self.inner, self.outer, self.count + 1)

    def value_kind(self) -> ValueKind:
        """ "signs" where all ε_i are 1, so that g is 0 or 1; otherwise g has the values −1, 0 (outside) and 1."""
        ones = (
            set(self.signs) == {1} if isinstance(self.signs, tuple) else self.signs == "alternating" and self.count == 1
        )
        return "signs" if ones else "real"

    def break_radii(self) -> tuple[float, ...]:
        return tuple(float(end) for end in self.edges() if end > 0)

    def draw(self, dim: int, rng: np.random.Generator) -> radial_function.Radial:
        self.checked(dim, rng)
        if self.signs == "random":
            signs = rng.choice([-1.0, 1.0], size=self.count)
        elif self.signs == "alternating":
            signs = np.where(np.arange(self.count) % 2, -1.0, 1.0)
        else:
            signs = np.array(self.signs, dtype=np.float64)
        ends, values = self.edges(), np.concatenate([[0.0], signs, [0.0]])
        return radial_function.Radial(lambda r: values[np.searchsorted(ends, r, side="right")], self.break_radii())
