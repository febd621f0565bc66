"""What every descent with steps shares: the step size, the state, and the way from stretch to stretch.

θ_{t+1} = θ_t − η_t (…) with η_t = η s(t), s of `_schedule`. η is given

- absolute; "edge": in units of 2/λ_max of K/n at the start; "particle": times the width m, the time of mean-field
  scaling, where a neuron's gradient is of size 1/m;
- or "auto": safety × 2/λ_max of the Gauss–Newton matrix (with batches: see `_curvature`). λ_max is estimated at the
  start and again after every `auto_every` steps, by a power iteration that goes on from the last vector.

Time is the sum of the η_t. It is kept as base + η·units: `base` is the time when η last changed, `units` the sum of the
s(t) since then, so that a constant step gives exactly η times the number of steps. How many steps a call makes depends
on the clock; what they compute does not.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.blas import one_blas_thread
from simlab.core.crew import on_threads
from simlab.core.errors import BadInput
from simlab.core.fields import number_or
from simlab.core.rng import Streams
from simlab.flows._curvature import batch_edge, edge, power_iteration, start_vector, tangent
from simlab.flows._descent import ALL, Batches, Own, Task, Way, descend, heavy_ball
from simlab.flows._schedule import Scheduled
from simlab.flows.flow import FlowState, check_width
from simlab.flows.problem import GOING, Problem, ending_of
from simlab.networks.signature import Rows

if TYPE_CHECKING:
    from simlab.data.law import Law
    from simlab.networks.network import Trainable

Array = NDArray[Any]
STRETCH_SECONDS = 0.05
"""How long one compiled stretch of steps takes, about: between two of them Python can react."""
FIRST_ITERATIONS, ITERATIONS = 40, 10
"""Iterations of the power iteration, at the start and later."""
_NO_DRAWS = np.random.default_rng(0)
"""For descents that draw nothing: the compiled loop takes a generator."""


def check_alpha(alpha: float) -> None:
    """Raise ValueError at an α whose square would leave the range of float32."""
    if alpha < 1e-15:
        raise ValueError(f"alpha = {alpha}: must be at least 1e-15")


@dataclass(kw_only=True)
class SteppingState(FlowState):
    """Where a descent stands; time = base + eta · units.

    units: sum of the schedule's factors s(t) since η last changed.
    base: time when η last changed.
    eta: the step size η, without the schedule's factor.
    probe: with step = "auto": the vector of the power iteration, (n, c).
    estimated: with step = "auto": the step of the last estimate; −1 before the first.
    """

    units: float = 0.0
    base: float = 0.0
    eta: float = 0.0
    probe: Array | None = None
    estimated: int | None = None

    def step_size(self) -> float:
        return self.eta

    def use_step_size(self, other: FlowState) -> None:
        if isinstance(other, SteppingState):
            self.eta = other.eta


class Stage(NamedTuple):
    """A stretch of a descent in which only one part of θ moves.

    trained: that part.
    first: its first step.
    last: one past its last step.
    pace: how many times as fast the schedule of the step size runs, counted from `first`.
    """

    trained: range
    first: int
    last: int
    pace: int = 1


class Stepping(Scheduled):
    """A descent with steps.

    update: precision → compiled update of θ (`_descent`).
    """

    state_class: ClassVar[type[SteppingState]] = SteppingState
    update: ClassVar[Any] = heavy_ball

    step: Annotated[float | Literal["auto"], number_or("auto")] = Field(
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

    def output_scale(self) -> float:
        return self.alpha

    def chooses_steps(self) -> bool:
        return self.step == "auto"

    def needs_tangent(self) -> str:
        if self.step == "auto":
            return "flow.step = 'auto'"
        return "flow.step_unit = 'edge'" if self.step_unit == "edge" else ""

    def check_network(self, network: Trainable, samples: int, dtype: str = "float64", data: Law | None = None) -> None:
        if self.step_unit == "particle":
            check_width(network, "flow.step_unit = 'particle'")

    def _own_state(self, problem: Problem, theta: Array, streams: Streams) -> dict[str, Any]:
        """The fields that only the state of this kind has, at the start."""
        return {}

    def _own(self, problem: Problem, state: Any) -> Own:
        """What the update needs; plain descent needs nothing."""
        none = problem.buffer("none", 0)
        return Own(none, none, none, 0.0, 0.0, np.zeros(2))

    def _samples(self, problem: Problem, state: Any) -> tuple[Rows, Batches, np.random.Generator]:
        """(all samples, which of them the steps see, what draws them or the noise)"""
        empty = Rows(problem.X[:0], problem.y[:0])
        return problem.rows, Batches(ALL, len(problem.X), np.zeros(0, np.int64), 0, empty), _NO_DRAWS

    def _stage(self, problem: Problem, step: int) -> Stage:
        """The stage that this step belongs to."""
        return Stage(problem.trained, 0, self.steps)

    def _stretch(self, problem: Problem, state: Any, steps: int) -> tuple[int, int, float]:
        """Make up to so many steps in place. Returns the number of steps made, the ending, and `units` after them."""
        done, ending, units, _ = self._descend(problem, state, steps)
        return done, ending, units

    def _descend(self, problem: Problem, state: Any, steps: int) -> tuple[int, int, float, int]:
        """The compiled loop: as `_stretch`, and the place in the order of the samples."""
        theta, (loss, _) = state.theta, problem.loss_kind.tile()
        rows, batches, rng = self._samples(problem, state)
        span, first, last, pace = self._stage(problem, state.step)
        grad = problem.buffer("grad", theta.size)
        scratch = problem.buffer("scratch", problem.scratch(batches.size))
        task = Task(problem.net(theta), rows, problem.goal, batches, grad, scratch)
        own = self._own(problem, state)
        plain = self.update is heavy_ball and not own.memory.size and not own.numbers[1] and span == problem.trained
        in_place = plain and problem.bound is not None and problem.bound.loops.in_place(batches.size)
        way = Way(
            span.start, span.stop, state.eta, *self.schedule_numbers(pace), state.step - first,
            min(steps, last - state.step), state.units, state.limit, in_place,
        )  # fmt: skip
        found: tuple[int, int, float, int] = descend[problem.dtype](
            problem.gradient, problem.act, loss, self.update[problem.dtype], task, way, own, rng
        )
        return found

    def start(self, problem: Problem, theta0: Array, streams: Streams) -> SteppingState:
        theta = problem.weights(theta0)
        own = self._own_state(problem, theta, streams)
        first = problem.loss(theta)
        limit = problem.limit(first)
        state = self.state_class(theta=theta, step=0, time=0.0, limit=limit, ending=ending_of(first, limit), **own)
        if self.step == "auto":
            tangent(problem, "flow.step = 'auto'")
            state.probe = start_vector(problem)
            state.estimated = -1
            if state.ending == GOING:
                self._estimate(problem, state)
                if not state.eta > 0.0:
                    raise BadInput("flow.step = 'auto': the tangent kernel is 0 at the start; give a number")
        else:
            state.eta = self._absolute(problem, theta)
        return state

    def _absolute(self, problem: Problem, theta: Array) -> float:
        """η of a step that is given as a number, whatever its unit."""
        assert isinstance(self.step, float)
        if self.step_unit == "edge":
            tangent(problem, "flow.step_unit = 'edge'")
            top = edge(problem, theta)
            if not 0.0 < top < math.inf:
                raise BadInput(
                    f"flow.step_unit = 'edge': λ_max of the tangent kernel is {top} at the start; use absolute"
                )
            return self.step * 2.0 / top
        if self.step_unit == "particle":
            if problem.width is None:
                raise BadInput("flow.step_unit = 'particle': the network has no width; use absolute or edge")
            return self.step * problem.width
        return self.step

    def _estimate(self, problem: Problem, state: SteppingState) -> None:
        """η anew from the weights now; it stays as it was where the tangent kernel is 0 or not finite."""
        assert state.probe is not None
        assert state.estimated is not None
        first = state.estimated < 0
        state.estimated = state.step
        top = power_iteration(problem, state.theta, state.probe, FIRST_ITERATIONS if first else ITERATIONS)
        batch = self.batch_size()
        if batch is not None:
            top = batch_edge(problem, top, state.theta, batch)
        top *= problem.loss_kind.largest_curvature()
        if 0.0 < top < math.inf:
            state.base += state.eta * state.units
            state.units = 0.0
            state.eta = self.safety * 2.0 / top

    def advance(self, problem: Problem, state: Any, until: float, seconds: float) -> None:
        """Stretches of about STRETCH_SECONDS until step `until`, the end of the flow, or about `seconds` are over."""
        deadline = time.monotonic() + seconds
        while state.step < until and state.ending == GOING:
            room = int(until) - state.step
            if self.step == "auto":
                at = state.step // self.auto_every * self.auto_every
                if state.estimated < at:
                    self._estimate(problem, state)
                room = min(room, at + self.auto_every - state.step)
            began = time.monotonic()
            turn = problem.crew.turn(numba.get_num_threads(), STRETCH_SECONDS, room)
            with one_blas_thread(), on_threads(turn.threads):
                done, state.ending, state.units = self._stretch(problem, state, turn.steps)
            state.step += done
            state.time = state.base + state.eta * state.units
            ended = time.monotonic()
            problem.crew.saw(turn, done, ended - began)
            if ended >= deadline:
                break
