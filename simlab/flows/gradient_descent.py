"""Full-batch gradient descent θ ← θ − η ∇R_α(θ), R_α(θ) = R(α f_θ)/α², R(f) = (1/2n) Σ (f(x_i) − y_i)². MATH §6.

With α the output scale the prediction α f moves, to first order, by −η K (α f − y)/n a step, K the tangent kernel,
whatever α: the lazy limit is α → ∞. In that regime mode i of K/n contracts by 1 − η λ_i a step, and descent is stable
for η < 2/λ_max, "the edge".
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numba import boolean, float64, int64, types
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import jit
from simlab.core.params import Params as Base
from simlab.networks._signature import GRADIENT

Floats = NDArray[np.float64]


class Params(Base):
    steps: int = Field(ge=1, description="number of steps")
    step: float = Field(gt=0, description="step size η, in the unit below")
    step_unit: Literal["absolute", "edge"] = Field(
        "absolute",
        description="edge: in units of 2/λ_max of the tangent kernel at initialisation, divided by n",
    )
    alpha: float = Field(1.0, gt=0, description="output scale α of lazy training")


EXAMPLES = ({"steps": 50, "step": 0.1}, {"steps": 50, "step": 0.5, "step_unit": "edge", "alpha": 10.0})

DESCENT = types.Tuple((int64, boolean))(
    types.FunctionType(GRADIENT), *GRADIENT.args[:5], float64, int64, float64[::1], float64[::1]
)


@jit(signatures=[DESCENT])
def descend(
    gradient: Any,
    theta: Floats,
    X: Floats,
    y: Floats,
    sizes: NDArray[np.int64],
    scale: float,
    step: float,
    steps: int,
    grad: Floats,
    scratch: Floats,
) -> tuple[int, bool]:
    """Make up to `steps` steps in place; returns how many, and whether the loss was no longer finite."""
    for done in range(steps):
        loss = gradient(theta, X, y, sizes, scale, grad, scratch)
        if not np.isfinite(loss):
            return done, True
        for k in range(theta.size):
            theta[k] -= step * grad[k]
    return steps, False
