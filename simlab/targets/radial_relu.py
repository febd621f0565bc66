"""g(x) = ReLU(1 − ‖x‖), the 1-Lipschitz radial target that a three-layer network learns. MATH §8."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from simlab.targets import radial_function
from simlab.targets.target import Target


class RadialReLU(Target):
    """g(x) = ReLU(1 − ‖x‖)."""

    is_radial: ClassVar[bool] = True

    def break_radii(self) -> tuple[float, ...]:
        return (1.0,)

    def draw(self, dim: int, rng: np.random.Generator) -> radial_function.Radial:
        self.checked(dim, rng)
        return radial_function.Radial(lambda r: np.maximum(1.0 - r, 0.0), self.break_radii())
