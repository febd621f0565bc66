"""The two-layer network f(x) = s Σ_{j≤m} a_j φ(w_j·x + b_j). MATH §6.

scaling:   "ntk": s = 1/√m, training is linear as m → ∞; "mean_field": s = 1/m, neurons move, by steps m times as long;
           "none": s = 1.
θ:         (a, b, W), W : (m, d) row by row; no b where there is no bias.
start:     every entry from N(0, τ²), τ = ``init_std``; with ``inner_std`` the entries of W from N(0, inner_std²), where
           "unit" is 1/√d, so that ‖w_j‖ ≈ 1 in every dimension. Drawn neuron by neuron: a wider network begins with the
           neurons of a narrower one.
doubled:   neurons 2j and 2j+1 start alike but for the sign of a, so that f = 0 at the start; m counts both.
trained:   both layers, the first (W and b) alone, or the second (a) alone.

What is compiled: `_two_layer_tile`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.activations.activation import Activation
from simlab.activations.relu import ReLU
from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.fields import number_or
from simlab.kernels import nngp, ntk
from simlab.networks._gram import Factors, hadamard_gram
from simlab.networks._two_layer_tile import BOTH, FIRST, LOOPS, SECOND
from simlab.networks.bound import Loops, checked_start, weights
from simlab.networks.limit import Limit
from simlab.networks.network import Trainable

Floats = NDArray[np.float64]


class TwoLayer(Trainable):
    """s Σ_j a_j φ(w_j·x + b_j)."""

    has_features: ClassVar[bool] = True
    shown: ClassVar[tuple[str, ...]] = (*Trainable.shown, "features")
    has_neurons: ClassVar[bool] = True
    has_directions: ClassVar[bool] = True
    may_be_bounded: ClassVar[bool] = True
    lack: ClassVar[str] = "no two-layer net"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"width": 7},
        {"width": 4, "scaling": "mean_field", "trained": "first"},
        {"width": 6, "activation": "tanh", "bias": True, "doubled": True, "init_std": 0.5, "scaling": "none"},
        {"width": 5, "activation": "step", "trained": "second", "bias": True},
        {"width": 4, "activation": "shifted", "scaling": "mean_field", "inner_std": "unit"},
    )

    width: int = Field(ge=1, description="number m of neurons")
    activation: Activation = Field(default_factory=ReLU, description="φ")
    scaling: Literal["ntk", "mean_field", "none"] = Field("ntk", description="output scale s: 1/√m, 1/m or 1")
    bias: bool = Field(False, description="a bias b_j in each neuron")
    trained: Literal["both", "first", "second"] = Field("both", description="which layers are trained")
    doubled: bool = Field(False, description="neurons in pairs of opposite sign, so that f = 0 at the start")
    init_std: float = Field(1.0, gt=0, le=1e15, description="standard deviation τ of every weight at the start")
    inner_std: Annotated[float | Literal["unit"] | None, number_or("unit", most=1e15, optional=True)] = Field(
        None, description='that of W apart: a number, or "unit" for 1/√d; left out: init_std'
    )

    @model_validator(mode="after")
    def _possible(self) -> TwoLayer:
        if self.doubled and self.width % 2:
            raise ValueError(f"width = {self.width}: must be even where the neurons are doubled")
        if self.trained != "second" and self.activation.jumps():
            raise ValueError(
                f"activation = {self.activation.kind!r}: it jumps, so that φ' says nothing of it; "
                f"use one that does not, or trained = 'second'"
            )
        return self

    def size(self, dim: int) -> int:
        """Number of weights and biases."""
        return self.width * (dim + 1 + self.bias)

    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (size,)"""
        dim = checked_start(dim, rng, self.size)
        outer = 1 + self.bias
        rows = rng.standard_normal((self.width // (1 + self.doubled), dim + outer))
        rows[:, :outer] *= self.init_std
        rows[:, outer:] *= self.inner_weight_std(dim)
        if self.doubled:
            rows = np.repeat(rows, 2, axis=0)
            rows[1::2, 0] *= -1
        return np.concatenate([rows[:, :outer].T.ravel(), rows[:, outer:].ravel()])

    def inner_weight_std(self, dim: int) -> float:
        """Standard deviation of an entry of W at the start."""
        if self.inner_std is None:
            return self.init_std
        return float(dim**-0.5) if self.inner_std == "unit" else self.inner_std

    def output_scale(self) -> float:
        """s"""
        return float(self.width ** {"ntk": -0.5, "mean_field": -1.0, "none": 0.0}[self.scaling])

    def loops(self, dim: int) -> Loops:
        m, P = self.width, self.size(dim)
        code = {"both": BOTH, "first": FIRST, "second": SECOND}[self.trained]
        plain = self.activation.relu_shift() == 0.0 and self.trained == "both" and not self.bias
        return Loops(
            compiled=LOOPS,
            activation=self.activation,
            sizes=np.array([m, dim, self.bias, code, plain], dtype=np.int64),
            numbers=np.array([self.output_scale()]),
            size=P,
            trained={"both": range(P), "first": range(m, P), "second": range(m)}[self.trained],
        )

    def neurons(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """a : (m,), b : (m,), zeros where there is no bias, and W : (m, d)"""
        m, theta = self.width, weights(theta)
        if theta.size % m or theta.size < m * (2 + self.bias):
            raise BadInput(f"theta has shape {theta.shape}: must be {m} (d + {1 + self.bias}) numbers, d the dimension")
        b = theta[m : 2 * m] if self.bias else np.zeros(m, theta.dtype)
        return theta[:m], b, theta[m * (1 + self.bias) :].reshape(m, -1)

    def directions(self, theta: Floats) -> Floats:
        """W : (m, d)"""
        return self.neurons(theta)[2]

    def particle_count(self) -> int:
        return self.width

    def unbounded(self) -> str:
        return "" if self.activation.bounded else f"network.activation = {self.activation.kind!r}"

    def features(self, theta: Floats, X: Floats) -> Floats:
        """H : (n, m), φ(w_j·x + b_j)/√m, so that H Hᵀ tends to the covariance of f in "ntk" scaling."""
        _, b, W = self.neurons(theta)
        H, _ = self.activation.both(checks.matrix(X, dim=W.shape[1]) @ W.T + b)
        H *= self.width**-0.5
        return H

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K = s² [Hᵀ H + (X Yᵀ + 1{bias}) ⊙ (Dᵀ diag(a²) D)] : (n, n), or (n, n') with Y."""
        a, b, W = self.neurons(theta)
        X, s = checks.matrix(X, dim=W.shape[1]), self.output_scale()

        def factors(rows: Floats) -> Factors:
            H, D = self.activation.both(rows @ W.T + b)
            found: Factors = [] if self.trained == "first" else [(s * H, None)]
            if self.trained != "second":
                lifted = np.column_stack([rows, np.ones(len(rows))]) if self.bias else rows
                found.append((lifted, D * (s * a)))
            return found

        return hadamard_gram(factors, X, Y, 2 * self.width + W.shape[1])

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        """The mean of K over the start, exact at every width, doubled or not.

        With all weights from N(0, τ²) and x̃ = (x, 1) with a bias, x without,

            E K = m s² [F(c) + τ² Ḟ(c) x̃·ỹ],   c = τ² x̃·ỹ,   the second layer's part and the first's.

        The recursion with σ_w² = τ² d, σ_b² = τ² (0 without a bias) has K¹ = c, K² = σ_b² + σ_w² F(c), Θ² = K² + σ_w²
        Ḟ(c) c: the parts are (K² − σ_b²)/σ_w² and (Θ² − K²)/σ_w². m s² is 1 for "ntk", 1/m for "mean_field" (there K
        itself tends to 0, and m K to the limit), m for "none". On the sphere of radius r, K¹ = τ² r² u: σ_w = τ r.
        """
        inner = self.inner_weight_std(dim)
        if self.bias and inner != self.init_std:
            raise ValueError(f"network.inner_std = {self.inner_std}: with biases the limit is known without it alone")
        sigma = inner * (dim**0.5 if radius is None else radius)
        bias = self.init_std if self.bias else 0.0
        first = (self.init_std / inner) ** 2  # the first layer's part grows with a²; Θ takes a and W to have one law
        scale = self.width * self.output_scale() ** 2 / sigma**2
        K = nngp(2, self.activation, sigma, bias)
        if self.trained == "second":
            return Limit(((scale, K),), -scale * bias**2)
        Theta = ntk(2, self.activation, sigma, bias)
        if self.trained == "first":
            return Limit(((first * scale, Theta), (-first * scale, K)))
        if first != 1.0:
            return Limit(((first * scale, Theta), ((1.0 - first) * scale, K)))
        return Limit(((scale, Theta),), -scale * bias**2)
