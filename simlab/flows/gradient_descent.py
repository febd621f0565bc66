"""Full-batch gradient descent θ ← θ − η ∇R_α(θ), R_α(θ) = R(α f_θ)/α², R(f) = (1/2n) Σ (f(x_i) − y_i)². MATH §6.

With α the output scale the prediction α f moves, to first order, by −η K (α f − y)/n a step, K the tangent kernel,
whatever α: the lazy limit is α → ∞. In that regime mode i of K/n contracts by 1 − η λ_i a step, and descent is stable
for η < 2/λ_max, "the edge".
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numba import boolean, int64, types
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import per_real
from simlab.core.params import Params as Base
from simlab.networks._signature import GRADIENT

Floats = NDArray[Any]


class Params(Base):
    steps: int = Field(ge=1, description="number of steps")
    step: float = Field(gt=0, description="step size η, in the unit below")
    step_unit: Literal["absolute", "edge"] = Field(
        "absolute",
        description="edge: in units of 2/λ_max of the tangent kernel at initialisation, divided by n",
    )
    alpha: float = Field(1.0, gt=0, description="output scale α of lazy training")


EXAMPLES = ({"steps": 50, "step": 0.1}, {"steps": 50, "step": 0.5, "step_unit": "edge", "alpha": 10.0})


def DESCENT(real: types.Float) -> Any:
    gradient = GRADIENT(real)
    return types.Tuple((int64, boolean))(types.FunctionType(gradient), *gradient.args, real, int64, int64, int64)


@per_real(DESCENT)
def descend(
    gradient: Any,
    act: Any,
    a: Floats,
    theta: Floats,
    X: Floats,
    y: Floats,
    alpha: float,
    sizes: NDArray[np.int64],
    numbers: Floats,
    grad: Floats,
    scratch: Floats,
    step: float,
    begin: int,
    end: int,
    steps: int,
) -> tuple[int, bool]:
    """Make up to `steps` steps in place with θ[begin:end]; returns how many, and whether the loss was no longer
    finite."""
    for done in range(steps):
        loss = gradient(act, a, theta, X, y, alpha, sizes, numbers, grad, scratch)
        if not np.isfinite(loss):
            return done, True
        for k in range(begin, end):
            theta[k] -= step * grad[k]
    return steps, False
