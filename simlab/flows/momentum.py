"""Full-batch descent with momentum β, on R_α as in `gradient_descent`; v_0 = 0. MATH §6.

heavy ball (Polyak)    v ← β v − η_t ∇R_α(θ),          θ ← θ + v
nesterov               v ← β v − η_t ∇R_α(θ + β v),    θ ← θ + v

On a quadratic with eigenvalue λ the heavy ball obeys e_{t+1} = (1 + β − ηλ) e_t − β e_{t−1}, stable for
η < 2(1 + β)/λ_max; Nesterov's e_{t+1} = (1 − ηλ)((1 + β) e_t − β e_{t−1}) for η < 2(1 + β)/((1 + 2β) λ_max), which is
at least (4/3)/λ_max: "auto" with the safety 1/2 is stable for both. As β → 1 time runs 1/(1 − β) times as fast as the
sum of the η_t, which is what is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import float64, int64
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import per_real
from simlab.core.rng import Streams
from simlab.flows._schedule import factor
from simlab.flows._stepping import Stepping, SteppingState, signature
from simlab.flows.problem import BEYOND, GOING, NOT_FINITE, Problem

Array = NDArray[Any]


@per_real(lambda real: signature(real, real[::1], real[::1], float64, int64))
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
    velocity: Array,
    ahead: Array,
    beta: float,
    nesterov: int,
) -> tuple[int, int, float]:
    b = theta.dtype.type(beta)
    for done in range(steps):
        for k in range(theta.size):
            ahead[k] = theta[k]
        if nesterov:
            for k in range(begin, end):
                ahead[k] += b * velocity[k]
        loss = gradient(act, a, ahead, X, y, alpha, sizes, numbers, grad, scratch)
        if not np.isfinite(loss):
            return done, NOT_FINITE, units
        if loss > limit:
            return done, BEYOND, units
        s = factor(code, schedule, first + done)
        units += s
        move = theta.dtype.type(eta * s / (np.float64(alpha) * np.float64(alpha)))
        for k in range(begin, end):
            velocity[k] = b * velocity[k] - move * grad[k]
            theta[k] += velocity[k]
    return steps, GOING, units


@dataclass(kw_only=True)
class MomentumState(SteppingState):
    """Where the descent stands.

    velocity: v, of the length of θ.
    """

    velocity: Array


class Momentum(Stepping):
    """v ← β v − η_t ∇R_α, θ ← θ + v over all samples."""

    is_descent: ClassVar[bool] = False
    state_class: ClassVar[type[SteppingState]] = MomentumState
    loop: ClassVar[Any] = descend
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"steps": 50, "step": 0.1},
        {"steps": 50, "step": 0.1, "momentum": 0.5, "nesterov": True, "schedule": "power", "decay_power": 0.5,
         "decay_steps": 10.0},
    )  # fmt: skip

    momentum: float = Field(0.9, ge=0, lt=1, description="β")
    nesterov: bool = Field(False, description="gradient at the point that the momentum leads to")

    def _own_state(self, problem: Problem, theta: Array, streams: Streams) -> dict[str, Any]:
        return {"velocity": np.zeros_like(theta)}

    def _own_arguments(self, problem: Problem, state: MomentumState) -> tuple[Any, ...]:
        return state.velocity, problem.buffer("ahead", state.theta.size), self.momentum, int(self.nesterov)
