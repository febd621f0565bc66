"""Exact population flow: a two-layer ReLU net on a ReLU teacher, inputs on the sphere or Gaussian, no samples. MATH §7.

The flow descends on R = ½ E (α f − g)² itself, in closed form (`simlab.networks.population`). Any flow will do that
asks for a loss and its gradient alone. The risk is recorded to 1e-10 of itself, down to 1e-30: near recovery, where the
closed form in doubles loses more, it is summed in double-double arithmetic (`simlab.theory.population`).

The closed form needs a rotation-invariant law of inputs with a second moment, ReLU without biases, and a target whose
ReLU neurons are known; all else is refused. At a neuron of zero the risk has a kink. Weights may reach it in finite
time where |a_j| > ‖w_j‖, or where a_j is not trained: descent then goes on, while a solver is caught in ever smaller
steps.

Test inputs, if any, are for observables. Streams: ``target``, ``init``, ``test``; flows: ``noise``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from simlab.activations.relu import ReLU
from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.experiments.course import Course, Floats
from simlab.experiments.following import Followed, FollowedState
from simlab.flows.problem import Problem
from simlab.networks.population import gradient, scratch_size
from simlab.networks.signature import Net
from simlab.networks.two_layer import TwoLayer
from simlab.observables.observable import Observable
from simlab.observables.risk import Risk
from simlab.observables.view import Setting, View, check_setting
from simlab.observables.weight_movement import WeightMovement
from simlab.targets import NeuronSum
from simlab.targets.target import Target
from simlab.theory.population import exact_risk

CANCELLED = 1e-6
"""A risk in doubles below this share of μ(Σ|b|n)² has lost ten of its digits, or more."""
NO_CLOSED_FORM = "no closed form of the population risk"
_SMALL: dict[str, Any] = {
    "experiment": {"kind": "population_flow", "test_samples": 4, "records": 6},
    "data": {"kind": "uniform_sphere", "dim": 5},
    "target": {"kind": "relu_teacher"},
    "network": {"kind": "two_layer", "width": 6, "scaling": "mean_field"},
    "flow": {"kind": "gradient_descent", "steps": 50, "step": 0.5, "step_unit": "particle"},
    "observables": ["risk", "weight_movement", "teacher_alignment", "predictions"],
}


@dataclass(frozen=True)
class PopulationView(View):
    """A view whose loss is the exact risk of the weights.

    exact: θ → R.
    """

    exact: Callable[[Floats], float] = lambda theta: float("nan")

    @cached_property
    def train_loss(self) -> float:
        return self.exact(self.theta)


@dataclass(kw_only=True)
class Work(Course):
    """What the flow follows, and what observables look at.

    X_test: test inputs, perhaps none.
    target: the teacher as drawn.
    """

    X_test: Floats
    target: NeuronSum


class PopulationFlow(Followed):
    """Training of a two-layer net on the exact population risk."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
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

    test_samples: int = Field(0, ge=0, description="number of test inputs, for observables")
    data: Law = Field(description="law of the inputs")
    target: Target = Field(description="the function to be learned")
    network: TwoLayer = Field(description="the network that is trained")
    observables: tuple[Observable, ...] = Field((Risk(), WeightMovement()), description="what to measure")

    @field_validator("data")
    @classmethod
    def _is_rotation_invariant(cls, law: Law) -> Law:
        if law.second_moment() is None:
            able = catalogue.able("data", lambda cls: cls.second_moment is not Law.second_moment)
            raise ValueError(f"{NO_CLOSED_FORM} (allowed: {one_of(able)})")
        return law

    @field_validator("target")
    @classmethod
    def _has_neurons(cls, target: Target) -> Target:
        if not target.has_neurons:
            able = catalogue.able("targets", lambda cls: cls.has_neurons)
            raise ValueError(f"{NO_CLOSED_FORM} (allowed: {one_of(able)})")
        return target

    @model_validator(mode="after")
    def _has_a_closed_form(self) -> Self:
        for key, activation in (
            ("network", self.network.activation),
            ("target", self.target.neuron_activation()),
        ):
            if not isinstance(activation, ReLU):
                given = f"{key}.activation = {activation.kind!r}"
                raise ValueError(f"{given}: no closed form (allowed: relu) for an exact population flow")
        if self.network.bias:
            raise ValueError("network.bias = true: an exact population flow has no biases; use gradient_flow")
        if self.flow.batch_size() is not None:
            raise ValueError(f"flow.kind = {self.flow.kind!r}: there are no samples to take batches of")
        if asks := self.flow.needs_tangent():
            raise ValueError(f"{asks}: there is no tangent kernel here; give an absolute step size")
        return self

    @model_validator(mode="after")
    def _observables_do_without_samples(self) -> Self:
        for observable in self.observables:
            if observable.needs_samples:
                able = catalogue.able("observables", lambda cls: not cls.needs_samples)
                raise ValueError(
                    f"observables: {observable.kind} is about training samples, and there are none "
                    f"(allowed: {one_of(able)})"
                )
        check_setting(self.observables, Setting(self.network, self.target, self.data, 0, self.test_samples))
        return self

    def prepare(self, streams: Streams) -> Work:
        network, d, m = self.network, self.data.dimension(), self.network.width
        target = self.target.draw_in_spec(d, streams["target"])
        mu = self.data.second_moment()
        assert isinstance(target, NeuronSum)  # validated
        assert mu is not None  # validated
        k = len(target.coefficients)
        sizes = np.array([m, d, network.trained != "second", network.trained != "first"])
        numbers, trained = np.array([network.output_scale(), mu]), network.loops(d).trained
        act, phi = ReLU().tile()
        problem = Problem(
            gradient=gradient,
            act=act,
            net=lambda theta: Net(theta, sizes, numbers, phi, trained.start, trained.stop, 1),
            X=target.neurons,
            y=target.coefficients,
            alpha=self.flow.output_scale(),
            trained=trained,
            scratch=lambda rows: scratch_size(m, d, k),
            width=m,
        )
        theta0 = network.initialise(d, streams["init"])
        X_test = self.data.sample(self.test_samples, streams["test"])
        return Work(problem=problem, theta0=theta0, X_test=X_test, target=target)

    def view(self, work: Work, state: FollowedState) -> View:
        return PopulationView(
            theta=state.net.theta,
            theta0=work.theta0,
            X=work.X_test[:0],
            y=np.zeros(0),
            X_test=work.X_test,
            y_test=work.target(work.X_test),
            network=self.network,
            alpha=work.problem.alpha,
            step=state.net.step,
            time=state.net.time,
            target=work.target,
            cache=work.cache,
            exact=lambda theta: self._risk(work, theta),
        )

    def _risk(self, work: Work, theta: Floats) -> float:
        problem, target = work.problem, work.target
        found = problem.loss(theta)
        scale, mu = problem.net(theta).numbers
        a, _, W = self.network.neurons(theta)
        b, c = problem.alpha * scale * a, target.coefficients
        whole = np.abs(b) @ np.linalg.norm(W, axis=1) + np.abs(c) @ np.linalg.norm(target.neurons, axis=1)
        return exact_risk(b, W, c, target.neurons, mu) if found < CANCELLED * mu * whole**2 else found

    def cost(self) -> tuple[float, float]:
        """Two products of pairs of neurons, and about 60 flops per angle; a solver's steps are guessed."""
        neurons, d = self.network.width + self.target.neuron_count(), self.data.dimension()
        return self.estimated_steps() * neurons**2 * (4.0 * d + 60.0), self.recorded_bytes()

    def memory(self) -> float:
        """θ and where it began."""
        return 16.0 * self.network.size(self.data.dimension())
