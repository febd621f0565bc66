"""Experiments that follow a flow: when to record, what observables see, how the flow ends.

A kind must define `prepare`, which gives a `Course`: the problem, where it starts, and what observables look at. For a
network on samples that is a `SampledCourse`, and nothing else is needed:

>>> class Mine(Followed):
...     def prepare(self, streams):
...         theta0 = network.initialise(X.shape[1], streams["init"])
...         return SampledCourse.of(self, network, Samples.training(X, y), theta0)
>>> mine = Mine(flow=flows.GradientDescent(steps=100, step=0.1))
>>> work = mine.prepare(streams)
>>> state = mine.start(work, streams)
>>> while not mine.finished(state):
...     columns = mine.advance(work, state)      # recorded name → new rows
>>> state.net.theta                              # the weights at the end

Methods to override where more is wanted: `view` (what observables look at), `measure_more` (more numbers per record),
`ending_at` (a reason to end at a record) and `measure_at_end` (numbers recorded once per point).

A flow that ends early is recorded once more where it stands. No step is recorded twice.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput, shown
from simlab.core.parsing import MOST_ENTRIES, AsTuple
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.experiments.course import Course
from simlab.experiments.experiment import ADVANCE_SECONDS, Columns, Experiment
from simlab.flows.flow import Flow, FlowState
from simlab.flows.problem import ENDINGS as FLOW_ENDINGS
from simlab.flows.problem import GOING, ending_of
from simlab.networks.bound import diverged_weights
from simlab.networks.network import Trainable
from simlab.observables.observable import Observable
from simlab.observables.schedule import Spacing, check_listed, instants, schedule
from simlab.observables.test_loss import TestLoss
from simlab.observables.train_loss import TrainLoss
from simlab.observables.view import View
from simlab.observables.weight_movement import WeightMovement
from simlab.record.schema import RECORD, Output
from simlab.targets.target import Target

LINEAR_ENDED = 1 + max(FLOW_ENDINGS)
NO_RISK = 1 + LINEAR_ENDED
ENDINGS = {
    **FLOW_ENDINGS,
    LINEAR_ENDED: "the linearised network beside diverged",
    NO_RISK: "an outer weight became positive: infinite risk under the heavy tail of the data",
}
"""Code → how the flow of a point ended: the endings of flows, and two more."""
NO_YES = {0: "no", 1: "yes"}
SOLVER_STEPS = 3000
"""Guessed number of steps of a solver, for estimates alone."""


@dataclass(kw_only=True)
class FollowedState(State):
    """Where a followed flow stands.

    net: state of the network's flow.
    linear: state of the linearised network's flow; None where no observable needs it.
    recorded: number of records made.
    ending: a key of `ENDINGS`; 0 while it goes on.
    finished: whether all is recorded.
    last: step, or time, of the last record; −1 before the first.
    step_size: η at the start; None for a flow that has none.
    """

    net: FlowState
    linear: FlowState | None = None
    recorded: int = 0
    ending: int = GOING
    finished: bool = False
    last: float = -1.0
    step_size: float | None = None


class Followed(Experiment):
    """An experiment that follows a flow and measures observables at recorded instants.

    state_class: the class of its state.
    """

    state_class: ClassVar[type[FollowedState]] = FollowedState

    records: int = Field(
        101, ge=2, le=MOST_ENTRIES, description="how many instants to record, the first and the last among them"
    )
    spacing: Spacing = Field("linear", description="of the recorded steps, or times: linear, log or listed")
    at: Annotated[tuple[float, ...], AsTuple] = Field(
        (), description="listed: the steps to record, or times of a flow in time, beside the first and the last"
    )
    first_time: float | None = Field(
        None, gt=0, description="log, a flow in time: the first after 0; left out: a ten-thousandth of the last"
    )
    flow: Flow = Field(description="how it is trained")
    observables: tuple[Observable, ...] = Field(
        (TrainLoss(), TestLoss(), WeightMovement()), description="what to measure"
    )

    @model_validator(mode="after")
    def _instants_are_possible(self) -> Self:
        check_listed(self.at, self.spacing, self.flow.last(), "at")
        if self.flow.clock == "step" and (broken := [at for at in self.at if not at.is_integer()]):
            raise ValueError(f"at = {shown(list(self.at))}: {broken[0]} is not a number of steps")
        if self.first_time is not None and (self.flow.clock == "step" or self.first_time >= self.flow.last()):
            raise ValueError(f"first_time = {self.first_time}: only for a flow in time, and before its end")
        if self.needs_linearised and self.flow.chooses_steps():
            raise ValueError('flow.step = "auto": the linearised network beside takes the same steps; give a number')
        return self

    @property
    def needs_linearised(self) -> bool:
        """Whether an observable needs the linearised network, trained in the same flow."""
        return any(o.needs_linearised for o in self.observables)

    # What a kind defines, or may override.

    @abstractmethod
    def prepare(self, streams: Streams) -> Any:
        """The `Course` to follow; a `SampledCourse` where a network learns from samples."""

    def view(self, work: Any, state: Any) -> View:
        """What observables look at now. This one is for work that is a `SampledCourse`."""
        linear = None if state.linear is None else state.linear.theta
        if linear is not None and self.flow.now(state.linear) != self.flow.now(state.net):
            linear = np.full_like(linear, np.nan)  # one of the two ended before the other came here
        return View(
            theta=np.asarray(state.net.theta, np.float64),
            theta0=work.theta0,
            **vars(work.samples),
            network=work.network,
            alpha=work.problem.alpha,
            step=state.net.step,
            time=state.net.time,
            step_size=state.step_size if self.flow.is_constant_descent() else None,
            data=work.data,
            target=work.target,
            linear=None if linear is None else np.asarray(linear[: work.theta0.size], np.float64),
            loss=work.problem.loss_kind,
            cache=work.cache,
        )

    def measure_more(self, work: Any, state: Any, view: View) -> dict[str, Any]:
        """Recorded name → value, of what is recorded at an instant along with the observables. Called in order."""
        return {}

    def ending_at(self, view: View) -> int:
        """The code of an ending at this record, or GOING."""
        return GOING

    def measure_at_end(self, work: Any, state: Any) -> dict[str, Any]:
        """What is recorded once, when the flow has ended."""
        return {}

    # The contract of an experiment.

    def outputs(self) -> dict[str, Output]:
        timed = self.flow.clock == "time"
        found = {
            "step": Output(f"number of steps {'of the solver' if timed else 'made'}", (RECORD,), dtype="int64"),
            "time": Output("time of the flow" if timed else "sum of the step sizes", (RECORD,)),
        }
        for observable in self.observables:
            found |= observable.outputs()
        if not timed:
            found["step_size"] = Output("step size η at the start")
        found["ending"] = Output("how the flow ended", dtype="int8", codes=ENDINGS)
        about = "whether the flow was stopped before its end (see ending)"
        found["diverged"] = Output(about, dtype="int8", codes=NO_YES)
        return found

    def start(self, work: Any, streams: Streams) -> Any:
        net, linear = self.flow.start(work.problem, work.theta0, streams), None
        if work.linearised is not None:
            problem, theta0 = work.linearised
            linear = self.flow.start(problem, theta0, streams)
            linear.use_step_size(net)
        return self.state_class(net=net, linear=linear, ending=net.ending, step_size=net.step_size())

    def restore(self, arrays: Mapping[str, Any]) -> Any:
        return self.state_class.of(arrays, **self.inner_states())

    def inner_states(self) -> dict[str, type[State]]:
        """Field of the state → its class, for the fields that are states themselves."""
        return {"net": self.flow.state_class, "linear": self.flow.state_class}

    def advance(self, work: Any, state: Any) -> Columns:
        plan = self.instants()
        repeated = [o for o in self.observables if any(output.is_trajectory for output in o.outputs().values())]
        rows: dict[str, list[Any]] = {name: [] for name, output in self.outputs().items() if output.is_trajectory}
        once: dict[str, Any] = {}
        deadline = time.monotonic() + ADVANCE_SECONDS
        while not state.finished:
            until = plan[state.recorded].item()
            self._go_on(work, state, until, deadline - time.monotonic())
            if state.ending != GOING or self._arrived(state, until):
                first = state.recorded == 0
                for name, value in self._record(work, state, self.observables if first else repeated).items():
                    if name in rows:
                        rows[name].append(value)
                    elif first:
                        once[name] = value
                state.finished = state.ending != GOING or state.recorded == len(plan)
            if time.monotonic() >= deadline:
                break
        if state.finished:
            once |= {"ending": state.ending, "diverged": state.ending != GOING}
            if state.step_size is not None:
                once["step_size"] = state.step_size
            once |= self.measure_at_end(work, state)
        return self.to_columns({name: values for name, values in rows.items() if values} | once)

    def finished(self, state: Any) -> bool:
        return bool(state.finished)

    def progress(self, state: Any) -> tuple[float, float]:
        """Steps, or records of a flow in time."""
        if self.flow.clock == "time":
            return state.recorded, len(self.instants())
        return state.net.step, int(self.flow.last())

    def instants(self) -> NDArray[Any]:
        """The steps, or times, to record."""
        last = self.flow.last()
        if self.flow.clock == "time":
            return instants(last, self.records, self.spacing, self.first_time or 1e-4 * last, self.at)
        return schedule(int(last), self.records, self.spacing, [int(at) for at in self.at])

    def estimated_steps(self) -> int:
        """Number of steps; guessed for a solver."""
        return int(self.flow.last()) if self.flow.clock == "step" else SOLVER_STEPS

    def recorded_bytes(self) -> float:
        """Roughly: 8 bytes per record and trajectory."""
        return 8.0 * self.records * sum(output.is_trajectory for output in self.outputs().values())

    def _arrived(self, state: FollowedState, until: float) -> bool:
        return all(self.flow.now(flow) == until for flow in (state.net, state.linear) if flow is not None)

    def _go_on(self, work: Course, state: FollowedState, until: float, seconds: float) -> None:
        """Towards the next record: the network first, then the linearised one up to the same instant."""
        sides = [(state.net, work.problem)]
        if state.linear is not None and work.linearised is not None:
            sides.append((state.linear, work.linearised[0]))
        for flow, problem in sides:
            if self.flow.now(flow) == until or state.ending != GOING:
                continue
            self.flow.advance(problem, flow, until, seconds)
            if flow.ending != GOING:
                state.ending = flow.ending if flow is state.net else LINEAR_ENDED
            if self.flow.now(flow) != until:
                break

    def _record(self, work: Course, state: FollowedState, observables: Sequence[Observable]) -> dict[str, Any]:
        """What is measured here; nothing where the flow has not moved since the last record."""
        here = float(self.flow.now(state.net))
        if here <= state.last:
            return {}
        view = self.view(work, state)
        found: dict[str, Any] = {"step": view.step, "time": view.time}
        with np.errstate(over="ignore", invalid="ignore"), diverged_weights():  # the row that shows a divergence
            for observable in observables:
                found |= _measured(observable, view)
            found |= self.measure_more(work, state, view)
            if state.ending == GOING:
                state.ending = ending_of(view.train_loss, state.net.limit)
            if state.ending == GOING:
                state.ending = self.ending_at(view)
        state.recorded += 1
        state.last = here
        return found


def _measured(observable: Observable, view: View) -> dict[str, Any]:
    """What an observable gives; NaN where weights that are not finite are too much for it."""
    try:
        return observable.measure(view)
    except (np.linalg.LinAlgError, ValueError, BadInput):
        if np.all(np.isfinite(view.theta)) and np.isfinite(view.train_loss):
            raise
        at_start = observable.measure(replace(view, theta=view.theta0))
        return {name: np.full(np.shape(value), np.nan) for name, value in at_start.items()}


def check_outputs(network: Trainable, target: Target) -> None:
    """Raise ValueError where the network has not as many outputs as the target."""
    if (outputs := network.output_count()) != (wanted := target.components() or 1):
        raise ValueError(f"network.outputs = {outputs}: the target has {wanted}")
