"""g(x) = ReLU(1 − c|x_k|), a function of one coordinate: not radial, and easy for a two-layer network. MATH §8."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.target import Floats, Function, Target


class AxisReLU(Target):
    """g(x) = ReLU(1 − c|x_k|)."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"coordinate": 3, "scale": 0.5})

    coordinate: int = Field(1, ge=1, description="number k of the coordinate, from 1 to d")
    scale: float = Field(1.0, gt=0, description="c")

    def check(self, dim: int) -> None:
        if self.coordinate > checks.dimension(dim):
            raise BadInput(f"coordinate = {self.coordinate}: must be at most {dim}, the dimension of the inputs")

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        dim = self.checked(dim, rng)

        def target(X: Floats) -> Floats:
            x = checks.matrix(X, dim=dim)[:, self.coordinate - 1]
            return np.asarray(np.maximum(1.0 - self.scale * np.abs(x), 0.0))

        return target
