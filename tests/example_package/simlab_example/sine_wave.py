"""A plane wave f(x) = sin(c w·x), w of norm 1 and uniform direction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.sphere.zonal import axes
from simlab.targets.target import Floats, Function, Target


class SineWave(Target):
    """f(x) = sin(c w·x)"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"c": 3.0})

    c: float = Field(1.0, gt=0, description="frequency")

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        w = axes(1, self.checked(dim, rng), rng)[0]

        def f(X: Floats) -> Floats:
            return np.sin(self.c * np.einsum("ij,j->i", X, w))  # einsum: a value does not depend on the other rows

        return f
