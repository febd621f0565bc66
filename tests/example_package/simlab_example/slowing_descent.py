"""Gradient descent that slows down: θ ← θ − η/(1 + t) ∇R(θ), t the number of steps made."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.rng import Streams
from simlab.flows import Flow, FlowState
from simlab.flows.problem import GOING, Problem, ending_of

Array = NDArray[Any]


class SlowingDescent(Flow):
    """θ ← θ − η/(1 + t) ∇R(θ), in Python: one call of the compiled gradient per step."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"steps": 20, "step": 0.1}, {"steps": 7})

    steps: int = Field(ge=1, description="number of steps")
    step: float = Field(0.5, gt=0, description="first step size η")
    alpha: float = Field(1.0, gt=0, description="output scale α")

    def output_scale(self) -> float:
        return self.alpha

    def last(self) -> float:
        return self.steps

    def start(self, problem: Problem, theta0: Array, streams: Streams) -> FlowState:
        theta = problem.weights(theta0)
        return FlowState(theta=theta, step=0, time=0.0, limit=problem.limit(problem.loss(theta)), ending=GOING)

    def advance(self, problem: Problem, state: FlowState, until: float, seconds: float) -> None:
        deadline, gradient = time.monotonic() + seconds, np.zeros_like(state.theta)
        while state.step < until and state.ending == GOING:
            loss = problem.loss_and_gradient(state.theta, gradient)
            state.ending = ending_of(loss, state.limit)
            if state.ending == GOING:
                eta = self.step / (1 + state.step)
                state.theta[problem.part] -= problem.dtype.type(eta / self.alpha**2) * gradient[problem.part]
                state.step, state.time = state.step + 1, state.time + eta
            if time.monotonic() > deadline:
                return
