"""g(x) = ReLU(1 − ‖x‖), the 1-Lipschitz radial target that a three-layer network learns. MATH §8."""

from __future__ import annotations

import numpy as np

from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.targets.radial_function import Radial


class Params(Base):
    pass


def draw(params: Params, dim: int, rng: np.random.Generator) -> Radial:
    checks.draw_from(dim, rng)
    return Radial(lambda r: np.maximum(1.0 - r, 0.0), (1.0,))
