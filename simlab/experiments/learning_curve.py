"""The test error of kernel ridge regression on n samples, and the average that theory predicts. MATH §5.

y_i = f*(x_i) + σ ε_i. The error is E (f − f*)² over fresh inputs and exact labels: the excess error. All `ridges` are
tried, and the one with the least error on validation data, whose labels are as noisy as the training ones, is chosen;
test data choose nothing. A `reference` kernel is fitted to the same data with a ridge of its own choice.

The theory (`simlab.theory.learning_curve`) averages over data, and needs the target's power per degree only. It applies
where inputs are uniform on the sphere that the kernel's spectrum belongs to and the target's power is known; elsewhere
its numbers are NaN. The error by degree is measured on the residual f − f*, over pairs of test points
(`simlab.sphere.power.degree_power`), and predicted by `simlab.theory.degree_residual`.

Streams: ``data``, ``validation``, ``test`` (inputs), ``target``, ``noise``, ``validation_noise``.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import SimlabError
from simlab.core.fields import EachOnce
from simlab.core.parsing import MOST_ENTRIES, AsTuple
from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.data.splits import draw
from simlab.experiments._sphere import is_profile
from simlab.experiments.course import Samples
from simlab.experiments.experiment import OneShot
from simlab.kernels.kernel import Kernel
from simlab.machines.ridge_choice import solve_each
from simlab.record.schema import Output
from simlab.sphere.power import BATCHES, degree_power
from simlab.targets.target import Target
from simlab.theory.degree_residual import degree_residual
from simlab.theory.learning_curve import learning_curve
from simlab.theory.source_condition import Source, fit_power_decay

Floats = NDArray[np.float64]
TAIL_DEGREES = 10
"""Number of degrees that a target's power must fall over to be a power law."""
FEW_RIDGES = 8
"""With more, one eigendecomposition (the cost of 20 factorisations) serves them all."""


@dataclass
class Fit:
    """Kernel ridge regression with one kernel.

    validation: mean square error on the validation data at each ridge, (ridges,).
    train: mean square of f − y on the training data, (ridges,).
    test: mean square of f − f* on the test data, (ridges,).
    chosen: index of the ridge of the least validation error.
    residual: f − f* at the test inputs, at the chosen ridge, (tests,).
    """

    validation: Floats
    train: Floats
    test: Floats
    chosen: int
    residual: Floats


class LearningCurve(OneShot):
    """Test error of kernel ridge regression, measured and predicted."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {
                "kind": "learning_curve",
                "samples": 20,
                "validation_samples": 10,
                "test_samples": 50,
                "noise": 0.1,
                "theory_degree": 12,
            },
            "data": {"kind": "uniform_sphere", "dim": 4},
            "target": {"kind": "gegenbauer", "degrees": [1, 2]},
            "kernel": {"kind": "ntk", "depth": 3},
            "reference": {"kind": "laplace", "c": 1.0},
        },
        {
            "experiment": {"kind": "learning_curve", "samples": 10, "validation_samples": 10, "test_samples": 50},
            "data": {"kind": "uniform_sphere", "dim": 4, "radius": 3.0},
            "target": {"kind": "relu_teacher"},
            "kernel": {"kind": "gaussian", "c": 1.0},
        },
    )

    samples: int = Field(ge=1, description="number n of training samples")
    validation_samples: int = Field(500, ge=1, description="samples that choose the ridge")
    test_samples: int = Field(2000, ge=2 * BATCHES, description="inputs on which the error is measured")
    noise: float = Field(0.0, ge=0, description="standard deviation σ of the labels' noise")
    ridges: Annotated[tuple[Annotated[float, Field(ge=0)], ...], AsTuple, EachOnce] = Field(
        (1e-6, 1e-3, 1e-2, 1e-1, 1.0), min_length=1, description="ridges λ to choose from"
    )
    theory_degree: int = Field(60, ge=1, description="degrees that the theory sums one by one")
    power_degree: int = Field(4, ge=0, le=MOST_ENTRIES, description="degrees whose part of the error is measured")
    data: Law = Field(description="law of the inputs")
    target: Target = Field(description="the function to be learned")
    kernel: Kernel = Field(description="the kernel")
    reference: Kernel | None = Field(None, description="a kernel to compare with")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        self.target.check_scalar()
        if self.power_degree > self.theory_degree:
            raise ValueError(f"power_degree = {self.power_degree}: must not exceed theory_degree, {self.theory_degree}")
        return self

    def outputs(self) -> dict[str, Output]:
        ridge, degree = {"ridge": np.array(self.ridges)}, {"degree": np.arange(self.power_degree + 1)}

        def by_ridge(text: str) -> Output:
            return Output(text, ("ridge",), coords=ridge)

        found = {
            "error_by_ridge": by_ridge("test error E (f − f*)² at every ridge"),
            "validation_error": by_ridge("mean square error on the validation data, noise included"),
            "train_residual": by_ridge("mean square of f − y on the training data"),
            "theory_by_ridge": by_ridge("average error predicted at every ridge; NaN where there is no theory"),
            "test_error": Output("test error at the chosen ridge"),
            "test_error_spread": Output("its standard error over test points"),
            "ridge_chosen": Output("ridge of the least validation error"),
            "theory": Output("average error predicted at the chosen ridge; NaN where there is no theory"),
            "theory_truncation": Output("how much of it may be due to the degrees that were summed"),
            "theory_noise": Output("what noise adds to it"),
            "rate": Output(
                "r of error ~ n^(−r) as n → ∞, from the smoothness of target and kernel; NaN without theory"
            ),
            "target_power": Output("E f*² over the test points"),
            "power_total": Output("E f*², exactly; NaN without theory"),
            "power_by_degree": Output("E f*_k², exactly; NaN without theory", ("degree",), coords=degree),
            "error_by_degree": Output("E (f_k − f*_k)² at the chosen ridge, over pairs", ("degree",), coords=degree),
            "error_by_degree_spread": Output("its standard error", ("degree",), coords=degree),
            "theory_by_degree": Output("E (f_k − f*_k)² predicted; NaN without theory", ("degree",), coords=degree),
            "theory_cost_by_degree": Output(
                "error that the target's power of a degree causes", ("degree",), coords=degree
            ),
        }
        if self.reference is not None:
            found["reference_error"] = Output("test error of the reference kernel at the ridge that it chose")
            found["reference_ridge"] = Output("that ridge")
        return found

    def _samples(self, streams: Streams) -> Samples:
        """Noisy labels for training and validation, exact ones for the test."""
        target = self.target.draw(self.data.dimension(), streams["target"])
        counts = {"data": self.samples, "validation": self.validation_samples, "test": self.test_samples}
        X, X_validation, X_test = draw(self.data, counts, streams).values()
        y = target(X) + self.noise * streams["noise"].standard_normal(len(X))
        noise = self.noise * streams["validation_noise"].standard_normal(len(X_validation))
        return Samples(X, y, X_test, target(X_test), X_validation, target(X_validation) + noise)

    def _fit(self, kernel: Kernel, samples: Samples) -> Fit:
        K = kernel.gram(samples.X, threads=1)
        alpha = np.stack(solve_each(K, samples.y, self.ridges, eigen_above=FEW_RIDGES), axis=1)
        train = K @ alpha - samples.y[:, np.newaxis]
        validation, test = (
            kernel.gram(X, samples.X, threads=1) @ alpha - y[:, np.newaxis]
            for X, y in ((samples.X_validation, samples.y_validation), (samples.X_test, samples.y_test))
        )
        scores = np.mean(validation**2, axis=0)
        chosen = int(np.argmin(scores))
        return Fit(scores, np.mean(train**2, axis=0), np.mean(test**2, axis=0), chosen, test[:, chosen])

    def measure(self, streams: Streams) -> dict[str, Any]:
        samples = self._samples(streams)
        fit = self._fit(self.kernel, samples)
        dim = samples.X.shape[1]
        degrees = degree_power(lambda X: fit.residual, dim, self.power_degree, samples.X_test)
        found: dict[str, Any] = {
            "error_by_ridge": fit.test,
            "validation_error": fit.validation,
            "train_residual": fit.train,
            "test_error": fit.test[fit.chosen],
            "test_error_spread": np.std(fit.residual**2, ddof=1) / sqrt(self.test_samples),
            "ridge_chosen": self.ridges[fit.chosen],
            "target_power": np.mean(samples.y_test**2),
            "error_by_degree": degrees.power,
            "error_by_degree_spread": degrees.errors,
        }
        found |= self._theory(samples, fit.chosen)
        if self.reference is not None:
            other = self._fit(self.reference, samples)
            found |= {"reference_error": other.test[other.chosen], "reference_ridge": self.ridges[other.chosen]}
        return found

    def _theory(self, samples: Samples, chosen: int) -> dict[str, Any]:
        power = self._power()
        known = power is not None and is_profile(self.kernel, samples.X_test)
        degrees = self.power_degree + 1
        if power is None or not known:
            alone = dict.fromkeys(("theory", "theory_truncation", "theory_noise", "rate", "power_total"), np.nan)
            by_degree = dict.fromkeys(
                ("theory_by_degree", "theory_cost_by_degree", "power_by_degree"), np.full(degrees, np.nan)
            )
            return alone | by_degree | {"theory_by_ridge": np.full(len(self.ridges), np.nan)}
        spectrum = self.kernel.spectrum(samples.X.shape[1], self.theory_degree)
        curve = learning_curve(spectrum, power, self.samples, np.array(self.ridges), self.noise)
        residual = degree_residual(spectrum, power[: self.theory_degree + 1], curve, self.noise)
        return {
            "theory_by_ridge": curve.error,
            "theory": curve.error[chosen],
            "theory_truncation": curve.truncation[chosen],
            "theory_noise": curve.noise[chosen],
            "rate": self._rate(power),
            "power_total": power.sum(),
            "power_by_degree": power[:degrees],
            "theory_by_degree": residual[chosen, :degrees],
            "theory_cost_by_degree": curve.by_degree[chosen, :degrees],
        }

    def _power(self) -> Floats | None:
        """The target's power by degree, far beyond those that are summed one by one; None where it is not known."""
        radius = self.data.sphere_radius()
        if radius is None or not self.target.knows_power:
            return None
        return self.target.power(self.data.dimension(), 2 * self.theory_degree + 200, radius)

    def _rate(self, power: Floats) -> float:
        """Of `simlab.theory.source_condition`; NaN for a smooth kernel, which falls faster than any power."""
        ends = self.kernel.endpoints()
        if ends.exponent is None:
            return float("nan")
        dim = self.data.dimension()
        live = np.flatnonzero(power)
        decay = float("inf")  # a few degrees: as smooth as can be
        if live.size >= TAIL_DEGREES:
            with contextlib.suppress(SimlabError):
                decay = fit_power_decay(power[: int(live[-1]) + 1], dim)
        source = Source(dim, dim + 2 * ends.exponent - 1, max(decay, 1.0 + 1e-9))
        return source.noisy_rate if self.noise > 0 else source.noiseless_rate

    def cost(self) -> tuple[float, float]:
        """Factorisations or an eigendecomposition, 20 flops per entry of Gram matrices, pairs of test points."""
        n, m = self.samples, self.test_samples + self.validation_samples
        kernels = 1 if self.reference is None else 2
        solve = min(len(self.ridges), 20) * n**3 / 3
        return kernels * (solve + 20.0 * n * (n + m)) + 4.0 * self.test_samples**2, 8.0 * 60

    def memory(self) -> float:
        """The Gram matrix, and that between test and training inputs."""
        return 8.0 * self.samples * (self.samples + self.test_samples + self.validation_samples)
