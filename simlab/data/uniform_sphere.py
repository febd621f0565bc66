"""The uniform law on the sphere of radius r in R^d: x = r g/‖g‖, g ~ N(0, I_d). MATH §1."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.data.law import Floats, Law


class UniformSphere(Law):
    """x uniform on the sphere of radius `radius`."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"dim": 10}, {"dim": 1}, {"dim": 20, "radius": 4.5})
    rotation_invariant: ClassVar[bool] = True

    dim: int = Field(ge=1, description="dimension d of the space that the sphere lies in")
    radius: float = Field(1.0, gt=0, description="radius r")

    def dimension(self) -> int:
        return self.dim

    def sphere_radius(self) -> float:
        return self.radius

    def second_moment(self) -> float:
        """r²/d"""
        return self.radius**2 / self.dim

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        n = checks.sample(n, rng, self.dim)
        X = rng.standard_normal((n, self.dim))
        X *= self.radius / np.sqrt(np.einsum("ij,ij->i", X, X))[:, np.newaxis]
        return X
