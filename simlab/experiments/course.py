"""What an experiment that follows a flow works on: samples, the problem that the flow descends on, and where it starts.

All of it can be derived again, and none of it is saved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from simlab.data.law import Law
from simlab.flows.problem import Problem
from simlab.losses.loss import Loss
from simlab.networks.bound import Bound
from simlab.networks.linearised import Linearised
from simlab.networks.network import Trainable
from simlab.targets.target import Function

if TYPE_CHECKING:
    from simlab.experiments.following import Followed

Floats = NDArray[np.float64]
Fresh = Callable[[int, np.random.Generator], tuple[Floats, Floats]]
"""(n, rng) → n new samples X (n, d), y (n,) or (n, c)"""


@dataclass(frozen=True)
class Samples:
    """Samples to learn from, to measure on, and to choose a setting by; test and validation samples may be none.

    X, y: training inputs (n, d) and values (n,), or (n, c) where there are several outputs.
    X_test, y_test: test samples, of the same form.
    X_validation, y_validation: validation samples, of the same form.
    """

    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    X_validation: Floats
    y_validation: Floats

    @classmethod
    def training(cls, X: Floats, y: Floats) -> Self:
        """Training samples alone."""
        return cls(X, y, X[:0], y[:0], X[:0], y[:0])


@dataclass(kw_only=True)
class Course:
    """What a flow follows.

    problem: what the flow descends on.
    theta0: weights at the start.
    linearised: problem and weights at the start of the linearised network; None where no observable needs it.
    cache: what observables keep from record to record in this process.
    """

    problem: Problem
    theta0: NDArray[Any]
    linearised: tuple[Problem, NDArray[Any]] | None = None
    cache: dict[str, Any] = field(default_factory=dict)


class Known(TypedDict, total=False):
    """What is known of the samples, as the attributes of `SampledCourse`."""

    data: Law | None
    target: Function | None


@dataclass(kw_only=True)
class SampledCourse(Course):
    """A network on samples.

    network: the network.
    samples: training, test and validation samples.
    data: law of the inputs; None where they are given as arrays.
    target: the function that gave y, as drawn; None where it is not known.
    """

    network: Trainable
    samples: Samples
    data: Law | None = None
    target: Function | None = None

    @classmethod
    def of(
        cls,
        experiment: Followed,
        network: Trainable,
        samples: Samples,
        theta0: Floats,
        *,
        dtype: str = "float64",
        fresh: Fresh | None = None,
        loss: Loss | None = None,
        **known: Unpack[Known],
    ) -> Self:
        """The course of an experiment's flow on these samples, from the weights theta0.

        dtype: precision of the flow, "float64" or "float32".
        fresh: draws new samples, for a flow that wants them.
        loss: what is minimised; None for squared. The samples' labels are as it takes them.
        known: data and target, as the attributes.
        """
        X, y = samples.X, samples.y

        def problem(network: Trainable, width: int | None) -> Problem:
            alpha = experiment.flow.output_scale()
            return Problem.of(Bound(network, X.shape[1], dtype), X, y, alpha, loss, width=width, fresh=fresh)

        width, linearised = network.particle_count(), None
        if experiment.needs_linearised:
            linear = Linearised(network=network)
            linearised = problem(linear, width), linear.around(theta0)
        return cls(
            problem=problem(network, width), theta0=theta0, linearised=linearised, network=network, samples=samples,
            **known,
        )  # fmt: skip
