"""Which degrees of a target are learned: from n samples by a kernel, or by N random neurons from ∞ samples. MATH §7.

x is uniform on S^{d−1}(√d). Targets are f* = Σ_k Z_k over the given degrees, Z_k(x) = √N(d,k) P_k(v_k·x̂) with random
axes v_k: power 1 in each degree. Recorded is E (f_k − Z_k)², the share of degree k that is not learned, exact given the
draw. The learners:

- ``krr``: kernel ridge regression on n samples, f = Σ α_i κ(x_i·x); Funk–Hecke gives f_k (`simlab.sphere.zonal`). The
  average that `simlab.theory.learning_curve` predicts is recorded too;
- ``rf``, ``nt``: the best fit by N random neurons φ(w·x + b), or by these and their tangent features, at n = ∞
  (`simlab.theory.neuron_span`).

Several targets are fitted to one draw of inputs or weights, and their mean is recorded.

Streams: ``data`` (inputs or weights), ``target``, ``noise``.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.activations.activation import Activation
from simlab.core.errors import BadInput, shown
from simlab.core.fields import EachOnce
from simlab.core.parsing import AsTuple
from simlab.core.rng import Streams
from simlab.experiments._sphere import is_profile
from simlab.experiments.experiment import OneShot
from simlab.kernels.kernel import Kernel
from simlab.machines import dense
from simlab.record.schema import Output
from simlab.sphere.zonal import axes, unlearned, zonal
from simlab.theory.degree_residual import degree_residual
from simlab.theory.learning_curve import learning_curve
from simlab.theory.neuron_span import Neurons

Floats = NDArray[np.float64]


class Staircase(OneShot):
    """Shares of the degrees of random targets that a learner leaves."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "staircase", "learner": "krr", "dim": 6, "size": 12, "max_degree": 8},
            "kernel": {"kind": "ntk", "depth": 3},
        },
        {
            "experiment": {"kind": "staircase", "learner": "rf", "dim": 6, "size": 10, "bias": -0.5, "max_degree": 8},
            "activation": "relu",
        },
        {
            "experiment": {"kind": "staircase", "learner": "nt", "dim": 5, "size": 3, "targets": 2, "max_degree": 8},
            "activation": "tanh",
        },
    )

    learner: Literal["krr", "rf", "nt"] = Field(
        description="kernel ridge regression, random features or tangent features"
    )
    dim: int = Field(ge=3, description="dimension d")
    size: int = Field(ge=1, description="number n of samples (krr) or N of neurons (rf, nt)")
    degrees: Annotated[tuple[Annotated[int, Field(ge=0, le=20)], ...], AsTuple, EachOnce] = Field(
        (1, 2, 3), min_length=1, description="degrees of the target, power 1 each"
    )
    targets: int = Field(10, ge=1, description="how many targets to average over")
    ridge: float = Field(0.0, ge=0, description="ridge λ of krr")
    noise: float = Field(0.0, ge=0, description="standard deviation of the labels' noise (krr)")
    bias: float = Field(0.0, description="b in φ(w·x + b) (rf, nt); with 0 ReLU has no odd degree above 1")
    max_degree: int = Field(30, ge=3, description="degrees that are summed one by one")
    kernel: Kernel | None = Field(None, description="kernel of krr")
    activation: Activation | None = Field(None, description="φ of rf and nt")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs, other = ("kernel", "activation") if self.learner == "krr" else ("activation", "kernel")
        if getattr(self, needs) is None:
            raise ValueError(f"learner = {self.learner!r} needs the table [{needs}]")
        if getattr(self, other) is not None:
            raise ValueError(f"learner = {self.learner!r} has no table [{other}]")
        if self.learner != "krr" and (self.ridge or self.noise):
            raise ValueError(f"learner = {self.learner!r} has infinitely many samples: no ridge and no noise")
        if self.learner == "nt" and self.activation is not None and self.activation.jumps():
            raise ValueError(f"activation = {self.activation.kind!r}: it jumps and has no tangent features; use rf")
        if self.learner == "krr" and self.bias:
            raise ValueError("bias belongs to rf and nt; a kernel has bias_std")
        if max(self.degrees) > self.max_degree:
            raise ValueError(f"degrees = {shown(list(self.degrees))}: must not exceed max_degree = {self.max_degree}")
        return self

    def outputs(self) -> dict[str, Output]:
        degree = {"degree": np.array(self.degrees)}

        def by_degree(text: str) -> Output:
            return Output(text, ("degree",), coords=degree)

        return {
            "unlearned": by_degree("share of the degree's power that is not learned, mean over targets"),
            "unlearned_error": by_degree("standard error of that mean, over targets"),
            "predicted": by_degree("the share that the theory of learning curves predicts; NaN for rf and nt"),
            "exponent": Output("log of the number of samples or neurons over log d"),
        }

    def measure(self, streams: Streams) -> dict[str, Any]:
        V = {k: axes(self.targets, self.dim, streams["target"]) for k in sorted(self.degrees)}
        X = axes(self.size, self.dim, streams["data"])
        if self.learner == "krr":
            left, predicted = self._kernel_ridge(X, V, streams["noise"])
        else:
            left, predicted = self._neurons(X, V), np.full(len(self.degrees), np.nan)
        several = self.targets > 1
        return {
            "unlearned": left.mean(axis=1),
            "unlearned_error": left.std(axis=1, ddof=1) / sqrt(self.targets) if several else np.full(len(left), np.nan),
            "predicted": predicted,
            "exponent": log(self.size) / log(self.dim),
        }

    def _kernel_ridge(self, X: Floats, V: dict[int, Floats], noise: np.random.Generator) -> tuple[Floats, Floats]:
        """(degrees, targets) and the prediction (degrees,)."""
        kernel = self.kernel
        assert kernel is not None  # validated
        radius = next((r for r in (1.0, sqrt(self.dim)) if is_profile(kernel, r * axes(4, self.dim, _probe()))), None)
        if radius is None:
            raise BadInput(f"{kernel!r}: its parts mean spheres of different radii, so that it has no spectrum here")
        spectrum = kernel.spectrum(self.dim, self.max_degree)
        y = np.sum([zonal(k, V[k], X) for k in self.degrees], axis=0)
        y = y + self.noise * noise.standard_normal(y.shape)
        alpha = dense.solve(kernel.gram(radius * X, threads=1), y, self.ridge, overwrite=True).coefficients
        left = [unlearned(k, float(spectrum.eigenvalues[k]), X, alpha, V[k]) for k in self.degrees]
        power = np.zeros(self.max_degree + 1)
        power[list(self.degrees)] = 1.0
        curve = learning_curve(spectrum, power, self.size, self.ridge, self.noise)
        return np.array(left), degree_residual(spectrum, power, curve, self.noise)[list(self.degrees)]

    def _neurons(self, W: Floats, V: dict[int, Floats]) -> Floats:
        assert self.activation is not None  # validated
        neurons = Neurons.of(self.activation, self.bias, W, self.max_degree, self.learner == "nt")
        b = {k: neurons.projections(k, V[k]) for k in self.degrees}
        a = dense.solve(neurons.gram(), np.sum(list(b.values()), axis=0), 0.0, overwrite=True).coefficients
        return np.array([neurons.power(k, a) - 2.0 * np.einsum("pm,pm->m", a, b[k]) + 1.0 for k in self.degrees])

    def cost(self) -> tuple[float, float]:
        """A Cholesky factorisation of the features or samples, and a pass over their pairs."""
        p = self.size * (self.dim + 1 if self.learner == "nt" else 1)
        return p**3 / 3.0 + 10.0 * self.max_degree * p**2, 8.0 * (3 * len(self.degrees) + 1)

    def memory(self) -> float:
        """The Gram matrix of the features or samples."""
        return 8.0 * float(self.size * (self.dim + 1 if self.learner == "nt" else 1)) ** 2


def _probe() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(0))
