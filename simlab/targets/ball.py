"""The indicator of a ball, g(x) = 1{‖x‖ < radius}. MATH §8."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.targets.radial_function import Radial


class Params(Base):
    radius: float = Field(1.0, gt=0, description="radius of the ball")


def draw(params: Params, dim: int, rng: np.random.Generator) -> Radial:
    checks.draw_from(dim, rng)
    return Radial(lambda r: (r < params.radius).astype(np.float64), (params.radius,))
