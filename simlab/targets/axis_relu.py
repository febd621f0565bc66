"""g(x) = ReLU(1 − c|x_k|), a function of one coordinate: not radial, and easy for a two-layer network. MATH §8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.params import Params as Base

Floats = NDArray[np.float64]


class Params(Base):
    coordinate: int = Field(1, ge=1, description="number k of the coordinate, from 1 to d")
    scale: float = Field(1.0, gt=0, description="c")


EXAMPLES: tuple[dict[str, object], ...] = ({}, {"coordinate": 3, "scale": 0.5})


def draw(params: Params, dim: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    dim = checks.draw_from(dim, rng)
    if params.coordinate > dim:
        raise BadInput(f"coordinate = {params.coordinate}: must be at most {dim}, the dimension of the inputs")

    def target(X: Floats) -> Floats:
        return np.asarray(
            np.maximum(1.0 - params.scale * np.abs(checks.matrix(X, dim=dim)[:, params.coordinate - 1]), 0.0)
        )

    return target
