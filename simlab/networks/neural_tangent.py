"""Tangent features of a two-layer net, with coefficients of their own for both layers. MATH §7, §3.

    Σ_j a_j φ(w_j·x̃) + Σ_j ⟨s_j, x̃⟩ φ'(w_j·x̃)          (x̃: as in random_features; normalised family: x̃ = x)

    Φ(x) = σ/√N · [φ(w_j·x̃)]_j, [x̃_k φ'(w_j·x̃)]_{j,k},    Φ Φᵀ → Θ² = K² + σ² Ḟ(K¹) K¹ = ntk(2, φ, σ_w, σ_b).

Order: the N neurons; with a bias the constant σ_b of the second layer; then neuron by neuron the d (with a bias d + 1)
entries of x̃ φ'(w_j·x̃). parts = "first" leaves out all but the last group: only hidden weights are trained, and the
limit is Θ² − K². p = N(d + 1) or N d without a bias, N(d + 2) + 1 or N(d + 1) with one.

The law of w is that of `random_features`, "sphere" with σ_w = 1 and ‖x‖ = √d being that of MATH §7.

As a net: f = Φ(x)·c, θ = (c, W), c trained (`_feature_net`): a two-layer net linearised where it was drawn, less its
value there. K = Φ Φᵀ = σ²/N [H Hᵀ + (X̃ X̃ᵀ) ⊙ (D Dᵀ)] + σ_b², H = φ(X̃ Wᵀ), D = φ'(X̃ Wᵀ), stays what it was.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations.elementwise import apply, apply_derivative
from simlab.networks._feature_net import FeatureNet, compiled, split, start
from simlab.networks._gram import hadamard_gram
from simlab.networks._wide import columns, draw_rows, drawn_rows, has_bias, lifted, lifted_dim, outer_std
from simlab.networks.bound import Loops, forward, inputs, other_inputs  # noqa: F401 (forward: the rest of the contract)

Floats = NDArray[np.float64]


class Params(FeatureNet):
    parts: Literal["both", "first"] = Field("both", description="both layers' features, or the hidden layer's alone")

    def needs_derivative(self) -> bool:
        return True


EXAMPLES = (
    {"width": 6},
    {"width": 6, "parts": "first", "coefficient_std": 1.0},
    {"width": 6, "activation": "tanh", "weight_std": 1.5, "bias_std": 0.5},
)


def draw(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    return draw_rows(params, params.law, dim, rng)


def _outer(params: Params) -> int:
    """Features of the second layer."""
    return params.width + has_bias(params) if params.parts == "both" else 0


def count(params: Params, dim: int) -> int:
    return _outer(params) + params.width * lifted_dim(params, dim)


def features(params: Params, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
    """Φ : (n, p), or the columns `part` of it."""
    X = lifted(params, X)
    weights = drawn_rows(weights, params.width, X.shape[1], has_bias(params))
    n, d = X.shape
    N, outer = params.width, _outer(params)
    begin, end = columns(part, outer + N * d)
    Phi = np.empty((n, max(0, end - begin)))
    scale = outer_std(params) / N**0.5
    if begin < min(outer, end):
        some = weights[begin : min(end, outer, N)]
        Phi[:, : len(some)] = scale * apply(params.activation, X @ some.T)
        Phi[:, len(some) : min(end, outer) - begin] = params.bias_std
    if end > max(begin, outer):
        first, last = max(begin, outer) - outer, end - outer
        j, k = first // d, -(-last // d)  # the neurons that these columns belong to
        slopes = scale * apply_derivative(params.activation, X @ weights[j:k].T)
        products = (slopes[:, :, np.newaxis] * X[:, np.newaxis, :]).reshape(n, -1)
        Phi[:, max(begin, outer) - begin :] = products[:, first - j * d : last - j * d]
    return Phi


def initialise(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    """θ : (p + N d,), with a bias (p + N (d + 1),)"""
    return start(params, dim, count(params, dim), rng)


def loops(params: Params, dim: int) -> Loops:
    return compiled(params, dim, count(params, dim), second=params.parts == "both", first=True)


def tangent_gram(params: Params, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
    """K = Φ Φᵀ : (n, n), or (n, n') between the rows of X and of Y"""
    X = inputs(X)
    _, W = split(params, theta, X.shape[1], count(params, X.shape[1]))
    scale = outer_std(params) / params.width**0.5

    def factors(rows: Floats) -> list[tuple[Floats, Floats | None]]:
        lift = lifted(params, rows)
        slopes = scale * apply_derivative(params.activation, lift @ W.T)
        return [(lift, slopes), (features(params, W, rows, slice(_outer(params))), None)]

    return hadamard_gram(factors, X, other_inputs(Y, X.shape[1]), 2 * params.width + X.shape[1])
