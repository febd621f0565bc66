"""Full-batch gradient descent θ ← θ − η_t ∇R_α(θ), R_α(θ) = R(α f_θ)/α², R(f) = (1/2n) Σ ‖f(x_i) − y_i‖². MATH §6.

With α the output scale the prediction α f moves, to first order, by −η K (α f − y)/n per step, K the tangent kernel,
whatever α: the lazy limit is α → ∞. In that regime mode i of K/n contracts by 1 − η λ_i per step, and descent is stable
for η < 2/λ_max, "the edge".
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import per_real
from simlab.flows._schedule import factor
from simlab.flows._stepping import Stepping, signature
from simlab.flows.problem import BEYOND, GOING, NOT_FINITE

Array = NDArray[Any]


@per_real(signature)
def descend(
    gradient: Any,
    act: Any,
    a: Array,
    theta: Array,
    X: Array,
    y: Array,
    alpha: float,
    sizes: Array,
    numbers: Array,
    grad: Array,
    scratch: Array,
    begin: int,
    end: int,
    eta: float,
    code: int,
    schedule: Array,
    first: int,
    steps: int,
    units: float,
    limit: float,
) -> tuple[int, int, float]:
    for done in range(steps):
        loss = gradient(act, a, theta, X, y, alpha, sizes, numbers, grad, scratch)
        if not np.isfinite(loss):
            return done, NOT_FINITE, units
        if loss > limit:
            return done, BEYOND, units
        s = factor(code, schedule, first + done)
        units += s
        move = theta.dtype.type(eta * s / (np.float64(alpha) * np.float64(alpha)))
        for k in range(begin, end):
            theta[k] -= move * grad[k]
    return steps, GOING, units


class GradientDescent(Stepping):
    """θ ← θ − η_t ∇R_α(θ) over all samples."""

    loop: ClassVar[Any] = descend
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"steps": 50, "step": 0.1},
        {"steps": 50, "step": 0.5, "step_unit": "edge", "alpha": 10.0, "schedule": "cosine"},
        {"steps": 50, "step": "auto", "auto_every": 7},
    )

    def is_constant_descent(self) -> bool:
        return self.schedule == "constant" and self.step != "auto"
