"""The indicator of a ball, g(x) = 1{‖x‖ < radius}. MATH §8."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from simlab.targets import radial_function
from simlab.targets.target import Target


class Ball(Target):
    """g(x) = 1{‖x‖ < radius}."""

    is_radial: ClassVar[bool] = True

    radius: float = Field(1.0, gt=0, description="radius of the ball")

    def value_kind(self) -> Literal["signs"]:
        return "signs"

    def break_radii(self) -> tuple[float, ...]:
        return (self.radius,)

    def draw(self, dim: int, rng: np.random.Generator) -> radial_function.Radial:
        self.checked(dim, rng)
        return radial_function.Radial(lambda r: (r < self.radius).astype(np.float64), self.break_radii())
