"""The normal law in R^d: x = s g, g ~ N(0, I_d)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.data.law import Floats, Law


class Gaussian(Law):
    """x ~ N(0, s² I), s = `scale`."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"dim": 10}, {"dim": 3, "scale": 0.5})
    rotation_invariant: ClassVar[bool] = True

    dim: int = Field(ge=1, description="dimension d")
    scale: float = Field(1.0, gt=0, description="standard deviation s of a coordinate")

    def dimension(self) -> int:
        return self.dim

    def second_moment(self) -> float:
        """s²"""
        return self.scale**2

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        n = checks.sample(n, rng, self.dim)
        X = rng.standard_normal((n, self.dim))
        X *= self.scale
        return X
