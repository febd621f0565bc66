"""What experiments that follow a flow share: when to record, the linearised network beside, the rows and the ending.

State: that of the flow under ``net_…``, that of the linearised network's under ``linear_…`` where an observable needs
it, and ``recorded``, the number of records made. A flow that ends early is recorded once more where it stands; the code
of the ending is kept, and no step is recorded twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput, shown
from simlab.core.params import MOST_ENTRIES, AsTuple, Room, module_of
from simlab.core.params import Params as Base
from simlab.core.rng import Streams
from simlab.flows.flow import Flow, FlowState
from simlab.flows.problem import ENDINGS as OF_FLOWS
from simlab.flows.problem import GOING, Problem, ending_of
from simlab.networks.bound import diverged_weights
from simlab.observables import test_loss, train_loss, weight_movement
from simlab.observables.schedule import Spacing, check_listed, instants, schedule
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output
from simlab.record.segments import State

ADVANCE_SECONDS = 0.5
LINEAR_ENDED = 1 + max(OF_FLOWS)
NO_RISK = 1 + LINEAR_ENDED
ENDINGS = {
    **OF_FLOWS,
    LINEAR_ENDED: "the linearised network beside diverged",
    NO_RISK: "an outer weight became positive: infinite risk under the heavy tail of the data",
}
NO_YES = {0: "no", 1: "yes"}
NET, LINEAR = "net_", "linear_"


class Followed(Base):
    """The fields of an experiment that follows a flow."""

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
    flow: Flow
    observables: Annotated[tuple[Base, ...], Room("observables")] = Field(
        (train_loss.Params(), test_loss.Params(), weight_movement.Params()), description="what to measure"
    )

    @model_validator(mode="after")
    def _instants_are_possible(self) -> Followed:
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
        return any(observable.needs_linearised for observable in self.observables)


def plan(params: Followed) -> NDArray[Any]:
    """The steps, or times, to record."""
    last = params.flow.last()
    if params.flow.clock == "time":
        return instants(last, params.records, params.spacing, params.first_time or 1e-4 * last, params.at)
    return schedule(int(last), params.records, params.spacing, [int(at) for at in params.at])


@dataclass
class Course:
    """What is followed, all of it derivable again: the problem and its start, the linearised one beside or None, when
    to record, the observables measured at every record, what those keep, and whether a recorded net has a risk."""

    problem: Problem
    theta0: NDArray[Any]
    beside: tuple[Problem, NDArray[Any]] | None
    schedule: NDArray[Any]
    repeated: list[Base]
    cache: dict[str, Any] = field(default_factory=dict)
    has_risk: Callable[[View], bool] = lambda view: True


def course(
    params: Followed, problem: Problem, theta0: NDArray[Any], beside: tuple[Problem, NDArray[Any]] | None = None
) -> Course:
    repeated = [o for o in params.observables if any(out.is_trajectory for out in module_of(o).outputs(o).values())]
    return Course(problem, theta0, beside, plan(params), repeated)


def outputs(params: Followed) -> dict[str, Output]:
    timed = params.flow.clock == "time"
    found = {
        "step": Output(f"number of steps {'of the solver' if timed else 'made'}", (RECORD,), dtype="int64"),
        "time": Output("time of the flow" if timed else "sum of the step sizes", (RECORD,)),
    }
    for observable in params.observables:
        found |= module_of(observable).outputs(observable)
    if not timed:
        found["step_size"] = Output("step size η at the start")
    found["ending"] = Output("how the flow ended", dtype="int8", codes=ENDINGS)
    found["diverged"] = Output("whether the flow was stopped before its end (see ending)", dtype="int8", codes=NO_YES)
    return found


def start(params: Followed, course: Course, streams: Streams) -> State:
    net = params.flow.start(course.problem, course.theta0, streams)
    state: State = {"recorded": 0, "ending": net.ending, "finished": False, "last": -1.0}
    if net.step_size() is not None:
        state["step_size"] = net.step_size()
    if course.beside is not None:
        linear = params.flow.start(*course.beside, streams)
        linear.use_step_size(net)
        state |= {LINEAR + key: value for key, value in linear.arrays().items()}
    return state | {NET + key: value for key, value in net.arrays().items()}


def part(flow: Flow, state: State, prefix: str) -> FlowState:
    """The state of one flow; its arrays are those of the whole."""
    own = {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
    return flow.state_class.of(own)


def advance(params: Followed, course: Course, state: State, view: Callable[[State], View]) -> dict[str, NDArray[Any]]:
    """About half a second of the flow and its records; `view` makes what observables look at from the state."""
    declared = outputs(params)
    rows: dict[str, list[Any]] = {name: [] for name, output in declared.items() if output.is_trajectory}
    once: dict[str, NDArray[Any]] = {}
    deadline = time.monotonic() + ADVANCE_SECONDS
    while not state["finished"]:
        _go_on(params, course, state, deadline - time.monotonic())
        if state["ending"] != GOING or _arrived(params, course, state):
            _record(params, course, state, view, rows, once)
        if time.monotonic() >= deadline:
            break
    if state["finished"]:
        once |= {"ending": np.asarray(state["ending"]), "diverged": np.asarray(state["ending"] != GOING)}
        if "step_size" in state:
            once["step_size"] = np.asarray(state["step_size"])
    return {**{name: np.array(values, declared[name].dtype) for name, values in rows.items()}, **once}


def _next(course: Course, state: State) -> Any:
    return course.schedule[state["recorded"]].item()


def _arrived(params: Followed, course: Course, state: State) -> bool:
    prefixes = (NET,) if course.beside is None else (NET, LINEAR)
    return all(state[prefix + params.flow.clock] == _next(course, state) for prefix in prefixes)


def _go_on(params: Followed, course: Course, state: State, seconds: float) -> None:
    """Towards the next record: the network first, then the linearised one up to the same instant."""
    flow, until = params.flow, _next(course, state)
    sides = [(NET, course.problem)] if course.beside is None else [(NET, course.problem), (LINEAR, course.beside[0])]
    for prefix, problem in sides:
        if state[prefix + flow.clock] == until or state["ending"] != GOING:
            continue
        own = part(flow, state, prefix)
        flow.advance(problem, own, until, seconds)
        state |= {prefix + key: value for key, value in own.arrays().items()}
        if own.ending != GOING:
            state["ending"] = own.ending if prefix == NET else LINEAR_ENDED
        if state[prefix + flow.clock] != until:
            break


def _record(
    params: Followed, course: Course, state: State, view_of: Callable[[State], View], rows: Any, once: Any
) -> None:
    here = float(state[NET + params.flow.clock])
    if here > state["last"]:
        view = view_of(state)
        rows["step"].append(view.step)
        rows["time"].append(view.time)
        first = state["recorded"] == 0
        with np.errstate(over="ignore", invalid="ignore"), diverged_weights():  # the row that shows a divergence
            for observable in params.observables if first else course.repeated:
                for name, value in _measured(observable, view).items():
                    if name in rows:
                        rows[name].append(value)
                    elif first:
                        once[name] = np.asarray(value)
            if state["ending"] == GOING:
                state["ending"] = ending_of(view.train_loss, state[NET + "limit"])
            if state["ending"] == GOING and not course.has_risk(view):
                state["ending"] = NO_RISK
        state["recorded"] += 1
        state["last"] = here
    state["finished"] = state["ending"] != GOING or state["recorded"] == len(course.schedule)


def _measured(observable: Base, view: View) -> dict[str, Any]:
    """What an observable gives; NaN where weights that are not finite are too much for it."""
    measure = module_of(observable).measure
    try:
        found: dict[str, Any] = measure(observable, view)
    except (np.linalg.LinAlgError, ValueError, BadInput):
        if np.all(np.isfinite(view.theta)) and np.isfinite(view.train_loss):
            raise
        at_start = measure(observable, replace(view, theta=view.theta0))
        return {name: np.full(np.shape(value), np.nan) for name, value in at_start.items()}
    return found


def check_flow(flow: Flow, network: Any, target: Base, data: Any, samples: int, dtype: str) -> None:
    """Refuses (ValueError, one line) a flow that cannot begin with these."""
    if (outputs := getattr(network, "outputs", 1)) != (wanted := target.components() or 1):
        raise ValueError(f"network.outputs = {outputs}: the target has {wanted}")
    flow.check_network(network, samples, dtype, data)


def progress(params: Followed, state: State) -> tuple[int, int]:
    """Steps, or records of a flow in time."""
    if params.flow.clock == "time":
        return state["recorded"], len(plan(params))
    return state[NET + "step"], int(params.flow.last())


def drawn(
    target: Base, dim: int, rng: np.random.Generator, key: str = "target"
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The target as drawn; what it refuses names its key."""
    return target.draw_in_spec(dim, rng, key)
