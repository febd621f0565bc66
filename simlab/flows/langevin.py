"""Noisy descent (unadjusted Langevin) at temperature T, on R_α as in `gradient_descent`. MATH §6.

    θ ← θ − η_t (∇R_α(θ) + ρ θ) + √(2 η_t T) ξ,     ξ ~ N(0, I) on the trained weights

As η → 0 its stationary law has the density exp(−(R_α(θ) + ρ‖θ‖²/2)/T); ρ, the ridge, makes it a law where R_α alone
has flat directions. On a quadratic with matrix A = ∇²R_α + ρ the law is Gaussian with covariance T A⁻¹(1 − ηA/2)⁻¹.

Stream: ``noise``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import per_real
from simlab.core.rng import Streams, copy_generator
from simlab.flows._descent import UPDATE, Batches, Own, Pace
from simlab.flows._stepping import Stepping, SteppingState
from simlab.flows.problem import Problem
from simlab.networks.signature import Rows

Array = NDArray[Any]


@per_real(UPDATE)
def update(theta: Array, grad: Array, memory: Array, towards: Array, pace: Pace, numbers: Array) -> None:
    """θ ← θ + noise − η_t (∇R_α + ρ θ).

    memory: the noise.
    numbers: (ρ,).
    """
    decay = theta.dtype.type(pace.eta * numbers[0])
    for k in range(theta.size):
        theta[k] += memory[k] - pace.move * grad[k] - decay * theta[k]


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
    update: ClassVar[Any] = update
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"steps": 50, "step": 0.1, "temperature": 1e-3},
        {"steps": 50, "step": 0.1, "temperature": 1e-3, "ridge": 0.1, "alpha": 2.0},
    )

    temperature: float = Field(ge=0, description="T")
    ridge: float = Field(0.0, ge=0, description="ρ, the weight decay")

    def _own_state(self, problem: Problem, theta: Array, streams: Streams) -> dict[str, Any]:
        return {"rng": copy_generator(streams["noise"])}

    def _own(self, problem: Problem, state: LangevinState) -> Own:
        none, noise = problem.buffer("none", 0), problem.buffer("noise", state.theta.size)
        return Own(noise, none, none, 0.0, self.temperature, np.array([self.ridge]))

    def _samples(self, problem: Problem, state: LangevinState) -> tuple[Rows, Batches, np.random.Generator]:
        return *super()._samples(problem, state)[:2], state.rng
