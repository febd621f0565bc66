"""A flow of a network on labelled samples and, beside it, ridge regression with the net's own kernels. MATH §5, §6.

The network and its flow are those of `gradient_flow`. Beside it, on the first `kernel_samples` training samples:

    start   K = J Jᵀ at θ_0, the tangent kernel at the start, its mean over outputs
    end     K = J Jᵀ at the θ where the flow ended: what was learned as a kernel
    limit   Θ, the tangent kernel of infinite width, where it is known (`Network.limit_kernel`)

Each solves (K + λ k̄ I) α = Y, k̄ the mean of the diagonal of K; Y is ±1 for one output, one-hot − 1/c for c outputs.
λ has the least mean square error on the validation samples. Test samples are looked at with that λ alone. Classes are
predicted as in the observable `accuracy`, whose last value is `network_accuracy`. Standard errors are those of a mean
over test samples. A flow that diverged to weights that are not finite has NaN at its end.

Streams: as in `gradient_flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.fields import EachOnce
from simlab.core.parsing import AsTuple
from simlab.experiments.course import Floats, SampledCourse
from simlab.experiments.gradient_flow import GradientFlow
from simlab.machines.ridge_choice import choose_ridge
from simlab.observables.view import ANY_DIM
from simlab.record.schema import Output

Gram = Callable[..., Floats]
"""X, or X and Y → K, (n, n) or (n, n')"""
KERNELS = {
    "start": "the tangent kernel at the start",
    "end": "the tangent kernel at the end",
    "limit": "the tangent kernel of infinite width",
}
_IMAGES: dict[str, Any] = {
    "experiment": {
        "kind": "classification", "samples": 30, "validation_samples": 12, "test_samples": 15, "kernel_samples": 20,
        "records": 6,
    },
    "data": {"kind": "images"},
    "target": {"kind": "labels", "classes": 10},
    "loss": {"kind": "softmax"},
    "network": {"kind": "mlp", "width": 6, "depth": 3, "outputs": 10},
    "flow": {"kind": "sgd", "steps": 50, "step": 0.1, "batch": 5},
    "observables": ["accuracy", "margin"],
}  # fmt: skip


class Classification(GradientFlow):
    """Training of a network on labelled samples, and its kernels on the same samples."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        _IMAGES,
        _IMAGES
        | {
            "target": {"kind": "one_vs_rest", "positive": [0, 2, 4, 6, 8]},
            "loss": {"kind": "logistic"},
            "network": {"kind": "two_layer", "width": 8},
        },
        _IMAGES | {"network": {"kind": "resnet3", "width": 6, "outputs": 10}},
    )

    test_samples: int = Field(1000, ge=2, description="number of test samples")
    validation_samples: int = Field(1000, ge=1, description="number of samples that the ridge is chosen by")
    kernel_samples: int = Field(1000, ge=2, description="training samples that kernels learn from, the first")
    ridges: Annotated[tuple[Annotated[float, Field(gt=0)], ...], AsTuple, EachOnce] = Field(
        (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        min_length=1,
        description="candidates λ, in multiples of the kernel's mean diagonal",
    )

    @model_validator(mode="after")
    def _has_classes(self) -> Self:
        if self.target.value_kind() == "real":
            raise ValueError(
                f"target.kind = {self.target.kind!r}: its values are real; classification needs ±1 or one-hot"
            )
        if self.kernel_samples > self.samples:
            raise ValueError(f"kernel_samples = {self.kernel_samples}: more than the {self.samples} training samples")
        return self

    def outputs(self) -> dict[str, Output]:
        found = super().outputs() | _accuracies("network", "the network at the end")
        for name in self._kernels():
            about = f"ridge regression with {KERNELS[name]}"
            found |= _accuracies(f"{name}_kernel", about)
            found[f"{name}_kernel_ridge"] = Output(f"λ chosen on the validation samples, of {about}")
        return found

    def _kernels(self) -> Iterator[str]:
        """Which of `KERNELS` are known for this network."""
        yield from ("start", "end")
        try:
            self.network.limit_kernel(ANY_DIM)
        except ValueError:
            return
        yield "limit"

    def measure_at_end(self, work: SampledCourse, state: Any) -> dict[str, Any]:
        theta, network = np.asarray(state.net.theta, np.float64), work.network
        grams: dict[str, Gram] = {
            "start": lambda *X: network.tangent_gram(work.theta0, *X),
            "end": lambda *X: network.tangent_gram(theta, *X),
            "limit": lambda *X: network.limit_kernel(work.samples.X.shape[1]).gram(*X),
        }
        finite = bool(np.isfinite(theta).all())
        found = _judged("network", self._predictions(work, theta), work) if finite else {}
        for name in self._kernels():
            if name != "end" or finite:
                found |= self._beside(f"{name}_kernel", grams[name], work)
        missing = {
            name: np.nan for name, output in self.outputs().items() if name.startswith(("network_", "end_kernel_"))
        }
        return missing | found

    def _predictions(self, work: SampledCourse, theta: Floats) -> tuple[Floats, Floats]:
        """f of the network on validation and test samples, (n, c) each."""
        both = work.samples.X_validation, work.samples.X_test
        validation, test = (work.network.forward(theta, X).reshape(len(X), -1) for X in both)
        return validation, test

    def _beside(self, name: str, gram: Gram, work: SampledCourse) -> dict[str, Any]:
        """What is recorded of ridge regression with one kernel."""
        samples, n = work.samples, self.kernel_samples
        X, K = samples.X[:n], gram(samples.X[:n])
        K_validation = gram(samples.X_validation, X)
        Y, Y_validation = _centred(samples.y[:n]), _centred(samples.y_validation)
        fit = choose_ridge(K, Y, K_validation, Y_validation, self.ridges, float(np.trace(K)) / n)
        predictions = K_validation @ fit.alpha, gram(samples.X_test, X) @ fit.alpha
        return {f"{name}_ridge": fit.ridge} | _judged(name, predictions, work)

    def cost(self) -> tuple[float, float] | None:
        """That of the flow; for each kernel 4 flops per weight and output of a row, and its Gram matrices and fits."""
        if (flow := super().cost()) is None:
            return None
        flops, nbytes = flow
        n, others, kernels = self.kernel_samples, self.validation_samples + self.test_samples, 3
        width = self.network.size(self.data.dimension()) ** 0.5 * self.network.output_count()
        grams = 4.0 * width * n * (n + others)
        return flops + kernels * (grams + len(self.ridges) * n**3 / 3), nbytes + 8.0 * 15

    def memory(self) -> float | None:
        """That of the flow, a Gram matrix and its factor, and the kernel on validation and test samples."""
        n = self.kernel_samples
        flow = super().memory()
        return None if flow is None else flow + 8.0 * n * (2 * n + self.validation_samples + self.test_samples)


def _accuracies(name: str, about: str) -> dict[str, Output]:
    """The accuracies recorded of one learner."""
    return {
        f"{name}_accuracy": Output(f"share of test samples classified rightly by {about}"),
        f"{name}_accuracy_se": Output(f"standard error over test samples of {name}_accuracy"),
        f"{name}_validation_accuracy": Output(f"share of validation samples classified rightly by {about}"),
    }


def _judged(name: str, predictions: tuple[Floats, Floats], work: SampledCourse) -> dict[str, Any]:
    """The accuracies of one learner by its predictions on validation and test samples, (n, c) each."""
    validation, test = predictions
    right = _right(test, work.samples.y_test)
    return {
        f"{name}_accuracy": right.mean(),
        f"{name}_accuracy_se": np.std(right, ddof=1) / np.sqrt(right.size),
        f"{name}_validation_accuracy": _right(validation, work.samples.y_validation).mean(),
    }


def _centred(y: Floats) -> Floats:
    """Values to regress on, (n, c): ±1, or one-hot − 1/c."""
    return y[:, np.newaxis] if y.ndim == 1 else y - 1.0 / y.shape[1]


def _right(f: Floats, y: Floats) -> NDArray[np.bool_]:
    """Whether each sample is classified rightly, (n,): y f > 0, or f largest at the class of y and there alone."""
    if y.ndim == 1:
        return np.asarray(y * f[:, 0] > 0.0)
    at_class = np.where(y == 1.0, f, -np.inf).max(axis=1)
    return np.asarray(at_class > np.where(y == 1.0, -np.inf, f).max(axis=1))
