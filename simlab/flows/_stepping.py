"""What every descent with steps shares: the step size, the state, and the way from stretch to stretch.

θ_{t+1} = θ_t − η_t (…): η_t = η s(t) (`_schedule`). η is given

- absolute; "edge": in units of 2/λ_max of K/n at the start; "particle": times the width m, the time of mean-field
  scaling, where a neuron's gradient is of size 1/m;
- or "auto": safety × 2/λ_max of the Gauss–Newton matrix (with batches: see `_curvature`), estimated at the start and
  again after every `auto_every` steps by power iteration that goes on from the last vector.

Time is the sum of the η_t: η times `units` (the sum of the s(t), kept apart so that a constant step gives η times the
number of steps) after `base`, the time when η last changed. The state is flat and can be saved between any two calls;
how many steps a call makes depends on the clock, what they compute does not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, model_validator

from simlab.core.blas import one_blas_thread
from simlab.core.errors import BadInput
from simlab.core.rng import dump_generator, load_generator
from simlab.flows._curvature import batch_edge, edge, power_iteration, start_vector, tangent
from simlab.flows._schedule import Scheduled, numbers_of
from simlab.flows.problem import GOING, Problem, ending_of
from simlab.networks.signature import GRADIENT

Array = NDArray[Any]
State = dict[str, Any]
STRETCH_SECONDS = 0.05
FIRST_PACE = 1e3
FIRST_ITERATIONS, ITERATIONS = 40, 10


def _number_or_auto(value: Any) -> Any:
    if value == "auto":
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    raise ValueError('must be a number greater than 0, or "auto"')


def check_alpha(alpha: float) -> None:
    """Refuses an α whose square would leave the range of float32."""
    if alpha < 1e-15:
        raise ValueError(f"alpha = {alpha}: must be at least 1e-15")


class Stepping(Scheduled):
    step: Annotated[float | Literal["auto"], PlainValidator(_number_or_auto)] = Field(
        description='step size η in the unit below, or "auto"'
    )
    step_unit: Literal["absolute", "edge", "particle"] = Field(
        "absolute", description="edge: 2/λ_max of the tangent kernel over n at the start; particle: the width"
    )
    safety: float = Field(0.5, gt=0, lt=1, description='with step = "auto": share of the largest stable step')
    auto_every: int = Field(100, ge=1, description='with step = "auto": steps from one estimate to the next')
    alpha: float = Field(1.0, gt=0, le=1e15, description="output scale α of lazy training")

    @model_validator(mode="after")
    def _unit_of_a_number(self) -> Stepping:
        if self.step == "auto" and self.step_unit != "absolute":
            raise ValueError(f'step_unit = {self.step_unit!r}: not with step = "auto", which has no unit')
        check_alpha(self.alpha)
        return self

    def batch_size(self) -> int | None:
        """Samples a step; None: all."""
        return None


def begin(params: Stepping, problem: Problem, theta0: Array) -> State:
    """The state of a descent at its start."""
    theta = problem.weights(theta0)
    first = problem.loss(theta)
    limit = problem.limit(first)
    state: State = {
        "theta": theta, "step": 0, "time": 0.0, "units": 0.0, "base": 0.0, "eta": 0.0,
        "ending": ending_of(first, limit), "limit": limit,
    }  # fmt: skip
    if params.step == "auto":
        tangent(problem, "flow.step = 'auto'")
        state["probe"] = start_vector(problem)
        state["estimated"] = -1
        if state["ending"] == GOING:
            _estimate(params, problem, state)
            if not state["eta"] > 0.0:
                raise BadInput("flow.step = 'auto': the tangent kernel is 0 at the start; give a number")
    else:
        state["eta"] = _absolute(params, problem, theta)
    return state


def _absolute(params: Stepping, problem: Problem, theta: Array) -> float:
    assert isinstance(params.step, float)
    if params.step_unit == "edge":
        tangent(problem, "flow.step_unit = 'edge'")
        top = edge(problem, theta)
        if not 0.0 < top < math.inf:
            raise BadInput(f"flow.step_unit = 'edge': λ_max of the tangent kernel is {top} at the start; use absolute")
        return params.step * 2.0 / top
    if params.step_unit == "particle":
        if problem.width is None:
            raise BadInput("flow.step_unit = 'particle': the network has no width; use absolute or edge")
        return params.step * problem.width
    return params.step


def _estimate(params: Stepping, problem: Problem, state: State) -> None:
    """η anew from the weights now; it stays as it was where the tangent kernel is 0 or not finite."""
    first = state["estimated"] < 0
    state["estimated"] = state["step"]
    top = power_iteration(problem, state["theta"], state["probe"], FIRST_ITERATIONS if first else ITERATIONS)
    batch = params.batch_size()
    if batch is not None:
        top = batch_edge(problem, top, state["theta"], batch)
    if 0.0 < top < math.inf:
        state["base"] += state["eta"] * state["units"]
        state["units"] = 0.0
        state["eta"] = params.safety * 2.0 / top


Stretch = Callable[[int], tuple[int, int, float]]
"""Makes up to so many steps in place; returns how many, the ending, and `units` after them."""


def go(params: Stepping, problem: Problem, state: State, until: int, seconds: float, stretch: Stretch) -> None:
    """Stretches of about STRETCH_SECONDS until step `until`, the end of the flow, or about `seconds` are over."""
    deadline = time.monotonic() + seconds
    while state["step"] < until and state["ending"] == GOING:
        room = until - state["step"]
        if params.step == "auto":
            at = state["step"] // params.auto_every * params.auto_every
            if state["estimated"] < at:
                _estimate(params, problem, state)
            room = min(room, at + params.auto_every - state["step"])
        began = time.monotonic()
        wanted = max(1, min(room, int(problem.kept.get("pace", FIRST_PACE) * STRETCH_SECONDS)))
        with one_blas_thread():
            done, state["ending"], state["units"] = stretch(wanted)
        state["step"] += done
        state["time"] = state["base"] + state["eta"] * state["units"]
        ended = time.monotonic()
        problem.kept["pace"] = max(1.0, done / max(ended - began, 1e-7))
        if ended >= deadline:
            break


def signature(real: Any, *more: Any, also: tuple[Any, ...] = ()) -> Any:
    """Of a compiled stretch: what `arguments` gives, then `more`; returns (steps made, ending, units, *also)."""
    loss = GRADIENT(real)
    schedule = (float64, int64, float64[::1])
    return types.Tuple((int64, int64, float64, *also))(
        types.FunctionType(loss), *loss.args, int64, int64, *schedule, int64, int64, float64, float64, *more
    )


class Stage(NamedTuple):
    """A stretch of a descent in which only `trained` moves: its first step and one past its last, and how many times
    as fast as over the whole the schedule of the step size goes from its first step on."""

    trained: range
    first: int
    last: int
    pace: int = 1


def arguments(
    params: Stepping,
    problem: Problem,
    state: State,
    steps: int,
    samples: tuple[Array, Array] | None = None,
    stage: Stage | None = None,
) -> tuple[Any, ...]:
    """gradient, its arguments, the trained span, η and schedule, steps before, steps to make, units, limit."""
    theta = state["theta"]
    span, first, _, pace = stage or Stage(problem.trained, 0, params.steps)
    X, y = samples or (problem.X, problem.y)
    rows = params.batch_size() or len(X)
    return (
        problem.gradient, *problem.activation, theta, X, y, problem.scalar_alpha, *problem.layout,
        problem.buffer("grad", theta.size), problem.buffer("scratch", problem.scratch(rows)), span.start, span.stop,
        state["eta"], *numbers_of(params, pace), state["step"] - first, steps, state["units"], state["limit"],
    )  # fmt: skip


def copy_of(generator: np.random.Generator) -> np.random.Generator:
    """A generator of its own at the same place: two flows from the same streams then see the same numbers."""
    return load_generator(dump_generator(generator))
