"""Gradient flow itself: θ' = −∇R_α(θ), R_α(θ) = R(α f_θ)/α², by scipy's RK45, DOP853 or Radau. MATH §6.

The right-hand side is the compiled gradient; only the trained weights are integrated, in float64. Steps end exactly at
the recorded times. A step that is shortened for that does not shorten the next: of the sizes before and after it the
larger goes on.

RK45 and DOP853 can be made again from (t, θ, h) at any time and go on to the bit. Radau carries more than that. It
therefore begins anew, with the same h, at every recorded time in every run, and does not return in between: a run that
is killed there goes back to the last record. `step` counts the accepted steps.

unit = "particle": time runs m times as fast, m the width: θ' = −m ∇R_α(θ), the time of mean-field scaling.

The flow ends early where the solver cannot make its step small enough or has made `max_steps` (a kink of the loss can
hold it), and where the loss after a step is not finite or beyond the limit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy.integrate import DOP853, RK45, Radau

from simlab.core.blas import one_blas_thread
from simlab.core.errors import BadInput
from simlab.core.rng import Streams
from simlab.flows._stepping import check_alpha
from simlab.flows.flow import Flow, FlowState, check_width
from simlab.flows.problem import GOING, SOLVER_FAILED, TOO_MANY_STEPS, Problem, ending_of

if TYPE_CHECKING:
    from simlab.data.law import Law
    from simlab.networks.network import Trainable

Array = NDArray[Any]
METHODS = {"RK45": RK45, "DOP853": DOP853, "Radau": Radau}


@dataclass(kw_only=True)
class ODEState(FlowState):
    """Where the solver stands.

    size: the step size h that it goes on with; 0 before its first step.
    """

    size: float


class ODE(Flow):
    """θ' = −∇R_α(θ)."""

    clock: ClassVar[Literal["step", "time"]] = "time"
    state_class: ClassVar[type[FlowState]] = ODEState
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"end_time": 5.0},
        {"end_time": 5.0, "method": "DOP853", "alpha": 2.0},
        {"end_time": 5.0, "method": "Radau", "rtol": 1e-4, "atol": 1e-6},
    )

    end_time: float = Field(gt=0, description="the last time")
    method: Literal["RK45", "DOP853", "Radau"] = Field("RK45", description="of scipy.integrate")
    rtol: float = Field(1e-6, ge=1e-13, lt=1, description="relative tolerance of a step")
    atol: float = Field(1e-9, gt=0, description="absolute tolerance of a step, for each weight")
    first_step: float | None = Field(None, gt=0, description="the first step; left out: chosen by the solver")
    max_step: float | None = Field(None, gt=0, description="the largest step; left out: none")
    max_steps: int = Field(1_000_000, ge=1, description="the most steps the solver may make before it is given up")
    unit: Literal["absolute", "particle"] = Field("absolute", description="particle: times the width")
    alpha: float = Field(1.0, gt=0, le=1e15, description="output scale α of lazy training")

    @model_validator(mode="after")
    def _steps_within(self) -> ODE:
        for name in ("first_step", "max_step"):
            if (value := getattr(self, name)) is not None and value > self.end_time:
                raise ValueError(f"{name} = {value}: must be at most end_time = {self.end_time}")
        check_alpha(self.alpha)
        return self

    def output_scale(self) -> float:
        return self.alpha

    def last(self) -> float:
        return self.end_time

    def in_particle_time(self) -> bool:
        return self.unit == "particle"

    def check_network(self, network: Trainable, samples: int, dtype: str = "float64", data: Law | None = None) -> None:
        if dtype != "float64":
            raise ValueError(f"dtype = {dtype!r}: flow.kind = 'ode' integrates in float64")
        if self.unit == "particle":
            check_width(network, "flow.unit = 'particle'")

    def start(self, problem: Problem, theta0: Array, streams: Streams) -> ODEState:
        if problem.dtype != np.float64:
            raise BadInput(f"experiment.dtype = '{problem.dtype}': flow.kind = 'ode' integrates in float64")
        if self.unit == "particle" and problem.width is None:
            raise BadInput("flow.unit = 'particle': the network has no width; use absolute")
        theta = problem.weights(theta0)
        first = problem.loss(theta)
        limit = problem.limit(first)
        return ODEState(theta=theta, step=0, time=0.0, limit=limit, ending=ending_of(first, limit), size=0.0)

    def advance(self, problem: Problem, state: ODEState, until: float, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        rate = _Rate(self, problem, state.theta)
        with one_blas_thread(), np.errstate(all="ignore"):  # what is not finite is an ending
            solver = self._solver(rate, state, until)
            while state.time < until and state.ending == GOING:
                if state.step >= self.max_steps:
                    state.ending = TOO_MANY_STEPS
                    return
                room, proposed = until - solver.t, float(solver.h_abs)
                if not _step(solver):
                    state.ending = SOLVER_FAILED
                    return
                state.step += 1
                state.time, state.size = float(solver.t), float(solver.h_abs)
                if room < proposed and state.time == until:  # shortened to end there; one refused is not
                    state.size = max(proposed, state.size)
                state.theta[problem.part] = solver.y
                state.ending = ending_of(rate.loss, state.limit)
                if self.method != "Radau" and time.monotonic() >= deadline:
                    break

    def _solver(self, rate: _Rate, state: ODEState, until: float) -> Any:
        known = state.size if state.size > 0.0 else self.first_step
        solver = METHODS[self.method](
            rate, state.time, state.theta[rate.problem.part].copy(), until,
            rtol=self.rtol, atol=self.atol, max_step=self.max_step or np.inf,
            first_step=None if known is None else min(known, until - state.time),
        )  # fmt: skip
        if known is not None:
            solver.h_abs = known  # also where it is longer than what is left
        return solver


class _Rate:
    """The right-hand side: (t, trained weights) → −∇R_α times the speed.

    loss: R where it was last evaluated.
    """

    def __init__(self, flow: ODE, problem: Problem, theta: Array) -> None:
        self.problem, self.theta, self.grad = problem, theta.copy(), np.zeros_like(theta)
        speed = problem.width if flow.unit == "particle" and problem.width is not None else 1
        self.factor = -speed / flow.alpha**2
        self.loss = 0.0

    def __call__(self, t: float, trained: Array) -> Array:
        self.theta[self.problem.part] = trained
        self.loss = self.problem.loss_and_gradient(self.theta, self.grad)
        rate: Array = self.factor * self.grad[self.problem.part]
        return rate


def _step(solver: Any) -> bool:
    """Whether the solver could make a step."""
    try:
        return solver.step() is None
    except (ValueError, np.linalg.LinAlgError):  # Radau: a matrix that is singular or not finite
        return False
