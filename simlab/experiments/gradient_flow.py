"""A flow of a network on a target over sampled inputs, with observables along the way. MATH §6.

Any network with compiled loops, any flow. Where an observable needs it (`linear_distance`) the network linearised at
its start is trained beside it, with the same data, steps and noise.

Where the target has several outputs the network has as many, and squares are summed over them.

Streams: ``data``, ``validation`` and ``test`` (inputs), ``target``, ``init``; flows: ``batches``, ``fresh``, ``noise``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import lookup
from simlab.core.errors import one_of
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of
from simlab.core.rng import Streams
from simlab.data.splits import draw
from simlab.experiments import _descent, _heavy_tail
from simlab.experiments._descent import LINEAR, NET, Course, Followed, drawn
from simlab.flows.problem import Problem
from simlab.networks import linearised
from simlab.networks.bound import Bound
from simlab.observables.view import Setting, View, check
from simlab.record.schema import Output
from simlab.record.segments import State

Floats = NDArray[np.float64]
SOLVER_STEPS = 3000  # a guess, for estimates alone


class Params(Followed):
    samples: int = Field(ge=1, description="number n of training samples")
    test_samples: int = Field(0, ge=0, description="number of test samples")
    validation_samples: int = Field(0, ge=0, description="number of samples to choose a setting by")
    dtype: Literal["float64", "float32"] = Field(
        "float64", description="precision of the flow; what is recorded is measured in float64"
    )
    data: Annotated[Base, Room("data")]
    target: Annotated[Base, Room("targets")]
    network: Annotated[Base, Room("networks")]

    @model_validator(mode="after")
    def _can_be_trained(self) -> Params:
        if not hasattr(module_of(self.network), "loops"):
            able = [kind for kind in lookup.kinds("networks") if hasattr(lookup.get("networks", kind), "loops")]
            raise ValueError(
                f"network.kind = {kind_of(self.network)!r}: it has no gradient to descend along "
                f"(allowed: {one_of(able)})"
            )
        _heavy_tail.check_outer_weights(self.data, self.network)
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Params:
        if self.needs_linearised and kind_of(self.network) == "linearised":
            raise ValueError("network.kind = 'linearised': there is no distance to its own linearisation to observe")
        setting = Setting(
            self.network, self.target, self.data, self.samples, self.test_samples, self.validation_samples
        )
        check(self.observables, setting)
        if not getattr(module_of(self.data), "FINITE", False):  # whose files may not be here
            self.target.check_in_spec(self.data.dimension())
        return self

    @model_validator(mode="after")
    def _flow_can_begin(self) -> Params:
        flow = self.flow
        _descent.check_flow(flow, self.network, self.target, self.data, self.samples, self.dtype)
        if not flow.is_descent and "kernel_distance" in map(kind_of, self.observables):
            raise ValueError(
                f"observables: kernel_distance follows gradient flow, which flow.kind = {kind_of(flow)!r} is not"
            )
        return self


_SMALL: dict[str, Any] = {
    "experiment": {"kind": "gradient_flow", "samples": 10, "test_samples": 5, "records": 6},
    "data": {"kind": "uniform_sphere", "dim": 5},
    "target": {"kind": "relu_teacher"},
    "network": {"kind": "two_layer", "width": 20},
    "flow": {"kind": "gradient_descent", "steps": 50, "step": 0.1},
    "observables": ["train_loss", "test_loss", "weight_movement", "tangent_spectrum"],
}
EXAMPLES = (
    _SMALL,
    _SMALL
    | {
        "flow": {"kind": "sgd", "steps": 50, "step": 0.1, "batch": 3, "fresh": True},
        "observables": ["train_loss"],
    },
    _SMALL | {"flow": {"kind": "ode", "end_time": 5.0}, "observables": ["train_loss", "linear_distance"]},
)


@dataclass
class Work:
    """Everything that can be derived again."""

    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    X_validation: Floats
    y_validation: Floats
    theta0: Floats
    target: Any
    course: Course


def outputs(params: Params) -> dict[str, Output]:
    return _descent.outputs(params)


def prepare(params: Params, streams: Streams) -> Work:
    law, network = module_of(params.data), module_of(params.network)
    dim = law.dimension(params.data)
    counts = {"data": params.samples, "test": params.test_samples, "validation": params.validation_samples}
    X, X_test, X_validation = draw(params.data, counts, streams).values()
    target = drawn(params.target, dim, streams["target"])
    theta0 = network.initialise(params.network, dim, streams["init"])

    def values(rows: Floats) -> Floats:
        found = target(rows)
        return found[:, 0] if params.target.components() == 1 else found

    y = values(X)
    alpha = params.flow.output_scale()
    finite = getattr(law, "FINITE", False)

    def fresh(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        new = law.sample(params.data, n, rng)
        return new, values(new)

    def problem(network: Base) -> Problem:
        return Problem.of(
            Bound(network, dim, params.dtype), X, y, alpha,
            width=getattr(params.network, "width", None), fresh=None if finite else fresh,
        )  # fmt: skip

    beside = None
    if params.needs_linearised:
        beside = problem(linearised.Params(network=params.network)), linearised.around(params.network, theta0)
    course = _descent.course(params, problem(params.network), theta0, beside)
    if _heavy_tail.heavy_tailed(params.data):
        course.has_risk = _heavy_tail.has_risk
    return Work(X, y, X_test, values(X_test), X_validation, values(X_validation), theta0, target, course)


def start(params: Params, work: Work, streams: Streams) -> State:
    return _descent.start(params, work.course, streams)


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    return _descent.advance(params, work.course, state, lambda state: _view(params, work, state))


def _view(params: Params, work: Work, state: State) -> View:
    flow = params.flow
    constant = flow.is_constant_descent()
    linear = state.get(LINEAR + "theta")
    if linear is not None and state[LINEAR + flow.clock] != state[NET + flow.clock]:
        linear = np.full_like(linear, np.nan)  # one of the two ended before the other came here
    return View(
        theta=np.asarray(state[NET + "theta"], np.float64),
        theta0=work.theta0,
        X=work.X,
        y=work.y,
        X_test=work.X_test,
        y_test=work.y_test,
        X_validation=work.X_validation,
        y_validation=work.y_validation,
        network=params.network,
        alpha=flow.output_scale(),
        step=state[NET + "step"],
        time=state[NET + "time"],
        step_size=state["step_size"] if constant else None,
        data=params.data,
        target=work.target,
        linear=None if linear is None else np.asarray(linear[: work.theta0.size], np.float64),
        cache=work.course.cache,
    )


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def progress(params: Params, state: State) -> tuple[int, int]:
    return _descent.progress(params, state)


def cost(params: Params) -> tuple[float, float]:
    """About 6 flops a sample and weight a step; a solver's steps are guessed. 8 bytes a recorded number."""
    flow = params.flow
    dim = module_of(params.data).dimension(params.data)
    weights = module_of(params.network).loops(params.network, dim).size
    steps = int(flow.last()) if flow.clock == "step" else SOLVER_STEPS
    trajectories = sum(output.is_trajectory for output in outputs(params).values())
    rows = flow.batch_size() or params.samples
    return 6.0 * steps * rows * weights, 8.0 * params.records * trajectories


def memory(params: Params) -> float:
    """θ and where it began, and every input."""
    dim = module_of(params.data).dimension(params.data)
    rows = params.samples + params.test_samples + params.validation_samples
    return float(8 * (2 * module_of(params.network).loops(params.network, dim).size + dim * rows))
