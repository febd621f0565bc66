"""Tangent features of a two-layer network: its derivatives in all weights, as features. MATH §7, §3.

    Σ_j a_j φ(w_j·x̃) + Σ_j ⟨s_j, x̃⟩ φ'(w_j·x̃)          (x̃: as in random_features; normalised family: x̃ = x)

    Φ(x) = σ/√N · [φ(w_j·x̃)]_j, [x̃_k φ'(w_j·x̃)]_{j,k},    Φ Φᵀ → Θ² = K² + σ² Ḟ(K¹) K¹ = ntk(2, φ, σ_w, σ_b).

Order of the features: the N neurons φ; with a bias the constant σ_b of the second layer; then, neuron by neuron, the d
(with a bias d + 1) entries of x̃ φ'(w_j·x̃). parts = "first" has the last group alone: only hidden weights are trained,
and the limit is Θ² − K². Their number p, for parts = "both" and "first": N(d + 1) and N d without a bias,
N(d + 2) + 1 and N(d + 1) with one.

The law of w is as in `random_features`; "sphere" with σ_w = 1 and ‖x‖ = √d is that of MATH §7.

As a network: f = Φ(x)·c, θ = (c, W), of which c is trained (`_feature_net`). It is a two-layer network linearised at
its start, less its value there. K = Φ Φᵀ = σ²/N [H Hᵀ + (X̃ X̃ᵀ) ⊙ (D Dᵀ)] + σ_b², with H = φ(X̃ Wᵀ) and D = φ'(X̃ Wᵀ),
does not change in training.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import checks
from simlab.kernels import nngp, ntk
from simlab.networks._feature_net import FeatureNet
from simlab.networks._gram import hadamard_gram
from simlab.networks._wide import checked_rows, columns, jump
from simlab.networks.bound import Loops
from simlab.networks.limit import Limit

Floats = NDArray[np.float64]


class NeuralTangent(FeatureNet):
    """[σ φ(w_j·x̃)/√N]_j and [σ x̃_k φ'(w_j·x̃)/√N]_{j,k}."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"width": 6},
        {"width": 6, "parts": "first", "coefficient_std": 1.0},
        {"width": 6, "activation": "tanh", "weight_std": 1.5, "bias_std": 0.5},
    )
    parts: Literal["both", "first"] = Field("both", description="both layers' features, or the hidden layer's alone")

    @model_validator(mode="after")
    def _differentiable(self) -> NeuralTangent:
        if problem := jump(self.activation):
            raise ValueError(problem)
        return self

    def _outer(self) -> int:
        """Number of features of the second layer."""
        return self.width + self.biased if self.parts == "both" else 0

    def count(self, dim: int) -> int:
        return self._outer() + self.width * self.lifted_dim(dim)

    def features_of(self, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
        """Φ : (n, p), or the columns `part` of it."""
        X = self.lifted(X)
        weights = checked_rows(weights, self.width, X.shape[1], self.biased)
        n, d = X.shape
        N, outer = self.width, self._outer()
        begin, end = columns(part, outer + N * d)
        Phi = np.empty((n, max(0, end - begin)))
        scale = self.outer_std() / N**0.5
        if begin < min(outer, end):
            some = weights[begin : min(end, outer, N)]
            Phi[:, : len(some)] = scale * self.activation(X @ some.T)
            Phi[:, len(some) : min(end, outer) - begin] = self.bias_std
        if end > max(begin, outer):
            first, last = max(begin, outer) - outer, end - outer
            j, k = first // d, -(-last // d)  # the neurons that these columns belong to
            slopes = scale * self.activation.derivative(X @ weights[j:k].T)
            products = (slopes[:, :, np.newaxis] * X[:, np.newaxis, :]).reshape(n, -1)
            Phi[:, max(begin, outer) - begin :] = products[:, first - j * d : last - j * d]
        return Phi

    def loops(self, dim: int) -> Loops:
        return self.compiled(dim, second=self.parts == "both", first=True)

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K = Φ Φᵀ : (n, n), or (n, n') between the rows of X and of Y"""
        X = checks.matrix(X)
        _, W = self.split(theta, X.shape[1])
        scale = self.outer_std() / self.width**0.5

        def factors(rows: Floats) -> list[tuple[Floats, Floats | None]]:
            lift = self.lifted(rows)
            slopes = scale * self.activation.derivative(lift @ W.T)
            return [(lift, slopes), (self.features_of(W, rows, slice(self._outer())), None)]

        return hadamard_gram(factors, X, Y, 2 * self.width + X.shape[1])

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        """Θ² = ntk(2, φ, σ_w, σ_b), or Θ² − K² of the hidden layer alone"""
        self.check_limit(dim, radius)
        arguments = (2, self.activation, self.weight_std, self.bias_std)
        if self.parts == "first":
            return Limit(((1.0, ntk(*arguments)), (-1.0, nngp(*arguments))))
        return Limit(((1.0, ntk(*arguments)),))
