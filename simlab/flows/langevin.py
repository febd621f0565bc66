"""Noisy descent (unadjusted Langevin) at temperature T, on R_α as in `gradient_descent`. MATH §6.

    θ ← θ − η_t (∇R_α(θ) + ρ θ) + √(2 η_t T) ξ,     ξ ~ N(0, I) on the trained weights

As η → 0 its stationary law has the density exp(−(R_α(θ) + ρ‖θ‖²/2)/T); ρ, the ridge, makes it a law where R_α alone
has flat directions. On a quadratic with matrix A = ∇²R_α + ρ the law is Gaussian with covariance T A⁻¹(1 − ηA/2)⁻¹.

Stream: ``noise``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import float64
from numba.core.types import npy_rng
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import per_real
from simlab.core.rng import Streams, copy_generator
from simlab.flows._schedule import factor
from simlab.flows._stepping import Stepping, SteppingState, signature
from simlab.flows.problem import BEYOND, GOING, NOT_FINITE, Problem

Array = NDArray[Any]


@per_real(lambda real: signature(real, npy_rng, float64, float64))
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
    rng: Any,
    temperature: float,
    ridge: float,
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
        decay = theta.dtype.type(eta * s * ridge)
        noise = math.sqrt(2.0 * eta * s * temperature)
        for k in range(begin, end):
            theta[k] += theta.dtype.type(noise * rng.standard_normal()) - move * grad[k] - decay * theta[k]
    return steps, GOING, units


@dataclass(kw_only=True)
class LangevinState(SteppingState):
    """Where the descent stands.

    rng: the generator of the noise.
    """

    rng: np.random.Generator


class Langevin(Stepping):
    """θ ← θ − η_t (∇R_α(θ) + ρ θ) + √(2 η_t T) ξ over all samples."""

    is_descent: ClassVar[bool] = False
    state_class: ClassVar[type[SteppingState]] = LangevinState
    loop: ClassVar[Any] = descend
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"steps": 50, "step": 0.1, "temperature": 1e-3},
        {"steps": 50, "step": 0.1, "temperature": 1e-3, "ridge": 0.1, "alpha": 2.0},
    )

    temperature: float = Field(ge=0, description="T")
    ridge: float = Field(0.0, ge=0, description="ρ, the weight decay")

    def _own_state(self, problem: Problem, theta: Array, streams: Streams) -> dict[str, Any]:
        return {"rng": copy_generator(streams["noise"])}

    def _own_arguments(self, problem: Problem, state: LangevinState) -> tuple[Any, ...]:
        return state.rng, self.temperature, self.ridge
