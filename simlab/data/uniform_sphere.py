"""The uniform law on the sphere of radius r in R^d: x = r g/‖g‖, g ~ N(0, I_d). MATH §1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import checks
from simlab.core.params import Params as Base


class Params(Base):
    dim: int = Field(ge=1, description="dimension d of the space that the sphere lies in")
    radius: float = Field(1.0, gt=0, description="radius r")


EXAMPLES = ({"dim": 10}, {"dim": 1}, {"dim": 20, "radius": 4.5})


def dimension(params: Params) -> int:
    return params.dim


def sample(params: Params, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """X : (n, d)"""
    n = checks.sample(n, rng, params.dim)
    X = rng.standard_normal((n, params.dim))
    X *= params.radius / np.sqrt(np.einsum("ij,ij->i", X, X))[:, np.newaxis]
    return X
