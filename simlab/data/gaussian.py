"""The normal law in R^d: x = s g, g ~ N(0, I_d)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import checks
from simlab.core.params import Params as Base


class Params(Base):
    dim: int = Field(ge=1, description="dimension d")
    scale: float = Field(1.0, gt=0, description="standard deviation s of a coordinate")


EXAMPLES = ({"dim": 10}, {"dim": 3, "scale": 0.5})


def dimension(params: Params) -> int:
    return params.dim


def sample(params: Params, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """X : (n, d)"""
    n = checks.sample(n, rng, params.dim)
    X = rng.standard_normal((n, params.dim))
    X *= params.scale
    return X
