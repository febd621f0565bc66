"""The uniform law on the cube {±s}^d. MATH §4, §9."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.params import Params as Base


class Params(Base):
    dim: int = Field(ge=1, description="dimension d")
    scale: float = Field(1.0, gt=0, description="size s of a coordinate; 1/√d puts the cube on the unit sphere")


EXAMPLES = ({"dim": 10}, {"dim": 4, "scale": 0.5})


def dimension(params: Params) -> int:
    return params.dim


def sample(params: Params, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """X : (n, d)"""
    bits = rng.integers(0, 2, size=(n, params.dim))
    return np.asarray(params.scale * (2.0 * bits - 1.0))
