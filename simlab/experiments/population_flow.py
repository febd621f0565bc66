"""Exact population flow: a two-layer ReLU net on a ReLU teacher, inputs on the sphere or Gaussian, no samples. MATH §7.

The flow descends on R = ½ E (α f − g)² itself, in closed form (`simlab.networks.population`); any flow that asks for a
loss and its gradient alone will do. The risk is recorded to 1e-10 of itself: where the closed form in doubles loses
more, near recovery, it is summed in double-double arithmetic (`simlab.theory.population`), down to 1e-30.

Only inputs uniform on a sphere about 0 or Gaussian, ReLU without biases, and a target whose ReLU neurons are known have
this closed form; all else is refused. At a neuron of zero the risk has a kink, which weights reach in finite time where
|a_j| > ‖w_j‖, or a_j is not trained, and it pays: descent goes on, a solver is then caught in ever smaller steps.

Test inputs, if any, are for observables. Streams: ``target``, ``init``, ``test``; flows: ``noise``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator, model_validator

from simlab.activations import relu
from simlab.activations.tiles import tile
from simlab.core.errors import one_of
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of
from simlab.core.rng import Streams
from simlab.experiments import _descent
from simlab.experiments._descent import NET, Course, Followed
from simlab.flows.problem import Problem
from simlab.networks import two_layer
from simlab.networks.population import gradient, scratch_size
from simlab.observables import risk, weight_movement
from simlab.observables.view import Setting, View, check
from simlab.record.schema import Output
from simlab.record.segments import State
from simlab.targets.neuron_sum import NeuronSum
from simlab.theory.population import exact_risk, second_moment

Floats = NDArray[np.float64]
LAWS = ("uniform_sphere", "gaussian")
TEACHERS = ("relu_teacher", "neuron")
WITHOUT_SAMPLES = ("neuron_snapshots", "predictions", "risk", "teacher_alignment", "test_loss", "weight_movement")
CANCELLED = 1e-6  # of μ(Σ|b|n)²: where a risk in doubles has lost ten of its digits, or more
SOLVER_STEPS = 3000


class Params(Followed):
    test_samples: int = Field(0, ge=0, description="number of test inputs, for observables")
    data: Annotated[Base, Room("data")]
    target: Annotated[Base, Room("targets")]
    network: Annotated[two_layer.Params, Room("networks")]
    observables: Annotated[tuple[Base, ...], Room("observables")] = Field(
        (risk.Params(), weight_movement.Params()), description="what to measure"
    )

    @field_validator("data", "target")
    @classmethod
    def _of_a_kind_with_a_closed_form(cls, value: Base, info: ValidationInfo) -> Base:
        allowed = LAWS if info.field_name == "data" else TEACHERS
        if kind_of(value) not in allowed:
            raise ValueError(f"no closed form of the population risk (allowed: {one_of(allowed)})")
        return value

    @model_validator(mode="after")
    def _has_a_closed_form(self) -> Params:
        allowed = "(allowed: relu) for an exact population flow"
        for key, table in (("network", self.network), ("target", self.target)):
            activation = getattr(table, "activation", None)
            if activation is not None and kind_of(activation) != "relu":
                raise ValueError(f"{key}.activation = {kind_of(activation)!r}: no closed form {allowed}")
        if self.network.bias:
            raise ValueError("network.bias = true: an exact population flow has no biases; use gradient_flow")
        if self.flow.batch_size() is not None:
            raise ValueError(f"flow.kind = {kind_of(self.flow)!r}: there are no samples to take batches of")
        if asks := self.flow.needs_tangent():
            raise ValueError(f"{asks}: there is no tangent kernel here; give an absolute step size")
        return self

    @model_validator(mode="after")
    def _observables_do_without_samples(self) -> Params:
        for observable in self.observables:
            if kind_of(observable) not in WITHOUT_SAMPLES:
                raise ValueError(
                    f"observables: {kind_of(observable)} is about training samples, and there are none "
                    f"(allowed: {one_of(WITHOUT_SAMPLES)})"
                )
        check(self.observables, Setting(self.network, self.target, self.data, 0, self.test_samples))
        return self


_SMALL: dict[str, Any] = {
    "experiment": {"kind": "population_flow", "test_samples": 4, "records": 6},
    "data": {"kind": "uniform_sphere", "dim": 5},
    "target": {"kind": "relu_teacher"},
    "network": {"kind": "two_layer", "width": 6, "scaling": "mean_field"},
    "flow": {"kind": "gradient_descent", "steps": 50, "step": 0.5, "step_unit": "particle"},
    "observables": ["risk", "weight_movement", "teacher_alignment", "predictions"],
}
EXAMPLES = (
    _SMALL,
    _SMALL
    | {
        "data": {"kind": "gaussian", "dim": 5},
        "target": {"kind": "neuron"},
        "network": {"kind": "two_layer", "width": 4},
        "flow": {"kind": "ode", "end_time": 5.0},
        "observables": ["risk", "test_loss"],
    },
)


@dataclass(frozen=True)
class PopulationView(View):
    """A view whose loss is the exact risk of the weights."""

    exact: Callable[[Floats], float] = lambda theta: float("nan")

    @cached_property
    def train_loss(self) -> float:
        return self.exact(self.theta)


@dataclass
class Work:
    """Everything that can be derived again."""

    X_test: Floats
    theta0: Floats
    target: NeuronSum
    course: Course


def outputs(params: Params) -> dict[str, Output]:
    return _descent.outputs(params)


def prepare(params: Params, streams: Streams) -> Work:
    law, network = module_of(params.data), params.network
    d, m = law.dimension(params.data), network.width
    target = _descent.drawn(params.target, d, streams["target"])
    assert isinstance(target, NeuronSum)  # validated
    k = len(target.coefficients)
    layers = [network.trained != "second", network.trained != "first"]
    problem = Problem(
        gradient=gradient,
        activation=tile(relu.Params()),
        layout=(np.array([m, d, *layers]), np.array([two_layer.output_scale(network), second_moment(params.data)])),
        X=target.neurons,
        y=target.coefficients,
        alpha=params.flow.output_scale(),
        trained=two_layer.loops(network, d).trained,
        scratch=lambda rows: scratch_size(m, d, k),
        width=m,
    )
    theta0 = two_layer.initialise(network, d, streams["init"])
    X_test = law.sample(params.data, params.test_samples, streams["test"])
    return Work(X_test, theta0, target, _descent.course(params, problem, theta0))


def start(params: Params, work: Work, streams: Streams) -> State:
    return _descent.start(params, work.course, streams)


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    return _descent.advance(params, work.course, state, lambda state: _view(params, work, state))


def _risk(params: Params, work: Work, theta: Floats) -> float:
    problem, target = work.course.problem, work.target
    found = problem.loss(theta)
    scale, mu = problem.layout[1]
    a, _, W = two_layer.neurons(params.network, theta)
    b = problem.alpha * scale * a
    whole = np.abs(b) @ np.linalg.norm(W, axis=1) + np.abs(target.coefficients) @ np.linalg.norm(target.neurons, axis=1)
    if found < CANCELLED * mu * whole**2:
        return exact_risk(b, W, target.coefficients, target.neurons, mu)
    return found


def _view(params: Params, work: Work, state: State) -> View:
    return PopulationView(
        theta=state[NET + "theta"],
        theta0=work.theta0,
        X=work.X_test[:0],
        y=np.zeros(0),
        X_test=work.X_test,
        y_test=work.target(work.X_test),
        network=params.network,
        alpha=work.course.problem.alpha,
        step=state[NET + "step"],
        time=state[NET + "time"],
        target=work.target,
        cache=work.course.cache,
        exact=lambda theta: _risk(params, work, theta),
    )


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def progress(params: Params, state: State) -> tuple[float, float]:
    return _descent.progress(params, state)


def cost(params: Params) -> tuple[float, float]:
    """Two products of pairs of neurons, and about 60 flops an angle; a solver's steps are guessed."""
    steps = int(params.flow.last()) if params.flow.clock == "step" else SOLVER_STEPS
    neurons = params.network.width + getattr(params.target, "neurons", 1)
    trajectories = sum(output.is_trajectory for output in outputs(params).values())
    return steps * neurons**2 * (
        4.0 * module_of(params.data).dimension(params.data) + 60.0
    ), 8.0 * params.records * trajectories


def memory(params: Params) -> float:
    """θ and where it began."""
    return 16.0 * two_layer.size(params.network, module_of(params.data).dimension(params.data))
