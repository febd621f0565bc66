"""A flow of a network on a target over sampled inputs, with observables along the way. MATH §6, §10.

Any network with a gradient, any flow. Where an observable needs it (`linear_distance`), the network linearised at its
start is trained too, with the same data, steps and noise. Where the target has several outputs the network must have
as many, and losses are summed over them. The loss is squared unless another is given; losses of classes take targets
whose values are ±1, 0 and 1, or one-hot. A target that reads labels takes those of the stored rows that are drawn.

Streams: ``data``, ``validation`` and ``test`` (inputs), ``target``, ``init``; flows: ``batches``, ``fresh``, ``noise``.
"""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from simlab.core.errors import BadInput
from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.data.splits import draw
from simlab.experiments import _heavy_tail
from simlab.experiments._labelled import check_labels, check_loss, encoded, labelled_samples, labels_of
from simlab.experiments.course import Floats, SampledCourse, Samples
from simlab.experiments.following import NO_RISK, Followed, check_outputs
from simlab.flows.problem import GOING
from simlab.losses.loss import Loss
from simlab.losses.squared import Squared
from simlab.networks.linearised import Linearised
from simlab.networks.network import Trainable
from simlab.observables.view import Setting, View, check_setting
from simlab.targets.target import Target

_SMALL: dict[str, Any] = {
    "experiment": {"kind": "gradient_flow", "samples": 10, "test_samples": 5, "records": 6},
    "data": {"kind": "uniform_sphere", "dim": 5},
    "target": {"kind": "relu_teacher"},
    "network": {"kind": "two_layer", "width": 20},
    "flow": {"kind": "gradient_descent", "steps": 50, "step": 0.1},
    "observables": ["train_loss", "test_loss", "weight_movement", "tangent_spectrum"],
}
_FRESH = {"kind": "sgd", "steps": 50, "step": 0.1, "batch": 3, "fresh": True}


class GradientFlow(Followed):
    """Training of a network, recorded along the way."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        _SMALL,
        _SMALL | {"flow": _FRESH, "observables": ["train_loss"]},
        _SMALL | {"flow": {"kind": "ode", "end_time": 5.0}, "observables": ["train_loss", "linear_distance"]},
    )

    samples: int = Field(ge=1, description="number n of training samples")
    test_samples: int = Field(0, ge=0, description="number of test samples")
    validation_samples: int = Field(0, ge=0, description="number of samples to choose a setting by")
    dtype: Literal["float64", "float32"] = Field(
        "float64", description="precision of the flow; what is recorded is measured in float64"
    )
    data: Law = Field(description="law of the inputs")
    target: Target = Field(description="the function to be learned")
    network: Trainable = Field(description="the network that is trained")
    loss: Loss | None = Field(None, description="what is minimised; left out: squared")

    @property
    def minimised(self) -> Loss:
        """The loss ℓ."""
        return Squared() if self.loss is None else self.loss

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_labels(self.data, self.target)
        check_loss(self.minimised, self.target)
        _heavy_tail.check_start(self.data, self.network)
        if self.needs_linearised and isinstance(self.network, Linearised):
            raise ValueError("network.kind = 'linearised': there is no distance to its own linearisation to observe")
        counts = self.samples, self.test_samples, self.validation_samples
        check_setting(self.observables, Setting(self.network, self.target, self.data, *counts, loss=self.minimised))
        if not self.data.finite:  # whose files may not be here
            self.target.check_in_spec(self.data.dimension())
        return self

    @model_validator(mode="after")
    def _flow_can_begin(self) -> Self:
        check_outputs(self.network, self.target)
        self.flow.check_network(self.network, self.samples, self.dtype, self.data)
        if not self.flow.is_descent and (needs := [o.kind for o in self.observables if o.needs_descent]):
            raise ValueError(
                f"observables: {needs[0]} follows gradient flow, which flow.kind = {self.flow.kind!r} is not"
            )
        return self

    def prepare(self, streams: Streams) -> Any:
        dim = self.data.dimension()
        counts = {"data": self.samples, "test": self.test_samples, "validation": self.validation_samples}
        loss, outputs = self.minimised, self.network.output_count()
        if self.target.reads_labels:
            samples = encoded(labelled_samples(self.data, self.target, counts, streams), loss, outputs)
            theta0 = self.network.initialise(dim, streams["init"])
            return SampledCourse.of(self, self.network, samples, theta0, dtype=self.dtype, data=self.data, loss=loss)
        X, X_test, X_validation = draw(self.data, counts, streams).values()
        target = self.target.draw_in_spec(dim, streams["target"])
        theta0 = self.network.initialise(dim, streams["init"])

        def values(rows: Floats) -> Floats:
            found = target(rows)
            return found[:, 0] if self.target.components() == 1 else found

        def fresh(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
            new = self.data.sample(n, rng)
            return new, labels_of(values(new), loss, outputs)

        samples = Samples(X, values(X), X_test, values(X_test), X_validation, values(X_validation))
        samples = encoded(samples, loss, outputs)
        return SampledCourse.of(
            self, self.network, samples, theta0, dtype=self.dtype, fresh=None if self.data.finite else fresh,
            data=self.data, target=target, loss=loss,
        )  # fmt: skip

    def ending_at(self, view: View) -> int:
        return NO_RISK if self.data.heavy_tail and view.network.grows(view.theta) else GOING

    def _dimension(self) -> int | None:
        """The dimension of the inputs; None where their files are missing."""
        with contextlib.suppress(*(BadInput,) if self.data.reads_files else ()):
            return self.data.dimension()
        return None

    def cost(self) -> tuple[float, float] | None:
        """About 6 flops per sample, weight and step; a solver's steps are guessed."""
        rows, dim = self.flow.batch_size() or self.samples, self._dimension()
        if dim is None:
            return None
        return 6.0 * self.estimated_steps() * rows * self.network.size(dim), self.recorded_bytes()

    def memory(self) -> float | None:
        """θ and where it began, and every input."""
        dim = self._dimension()
        if dim is None:
            return None
        rows = self.samples + self.test_samples + self.validation_samples
        return float(8 * (2 * self.network.size(dim) + dim * rows))
