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
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.rng import Streams
from simlab.flows._descent import Own
from simlab.flows._stepping import Stepping, SteppingState
from simlab.flows.problem import Problem

Array = NDArray[Any]


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
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"steps": 50, "step": 0.1},
        {"steps": 50, "step": 0.1, "momentum": 0.5, "nesterov": True, "schedule": "power", "decay_power": 0.5,
         "decay_steps": 10.0},
    )  # fmt: skip

    momentum: float = Field(0.9, ge=0, lt=1, description="β")
    nesterov: bool = Field(False, description="gradient at the point that the momentum leads to")

    def _own_state(self, problem: Problem, theta: Array, streams: Streams) -> dict[str, Any]:
        return {"velocity": np.zeros_like(theta)}

    def _own(self, problem: Problem, state: MomentumState) -> Own:
        none = problem.buffer("none", 0)
        ahead = problem.buffer("ahead", state.theta.size) if self.nesterov else none
        return Own(state.velocity, none, ahead, self.momentum, 0.0, np.array([self.momentum, 0.0]))
