"""Random features: the neurons of a two-layer net whose first layer stays as it was drawn. MATH §5, §7.

    Φ_j(x) = σ φ(w_j·x̃)/√N,  j ≤ N,    Φ Φᵀ → nngp(2, φ, σ_w, σ_b)  as N → ∞, entrywise with error ~ N^(−1/2)

- ``weight_std`` left out: x̃ = x, σ² = 1/E φ(z)² at unit variance: the normalised family, meant for ‖x‖ = 1.
- σ_w given: w·x̃ = σ_w w·x/√d + σ_b b, σ = σ_w; and where σ_b > 0 one constant feature σ_b more, the last, for the
  bias of the second layer: K² = σ_b² + σ_w² F(K¹).

law = "gaussian": w ~ N(0, I_d). "sphere": w uniform on the sphere of radius √d, so that E ww' = I as well; with σ_w = 1
and ‖x‖ = √d this is σ(ŵ·x) with ŵ on the unit sphere, as in MATH §7. The limit is then that of the Gaussian law where φ
is homogeneous of degree 0 or 1 and there is no bias (‖w‖ factors out); else only for d → ∞.

Weights: W (N, d), or (N, d + 1) with the biases b in the last column.

As a net: f = Φ(x)·c, θ = (c, W), c trained (`_feature_net`). K = Φ Φᵀ stays what it was at the start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simlab.activations.elementwise import apply
from simlab.networks._feature_net import FeatureNet, compiled, split, start
from simlab.networks._gram import hadamard_gram
from simlab.networks._wide import columns, draw_rows, drawn_rows, has_bias, lifted, outer_std
from simlab.networks.bound import Loops, forward, inputs, other_inputs  # noqa: F401 (forward: the rest of the contract)

Floats = NDArray[np.float64]


class Params(FeatureNet):
    pass


EXAMPLES = (
    {"width": 8},
    {"width": 8, "activation": "erf", "weight_std": 1.5, "bias_std": 0.5},
    {"width": 8, "law": "sphere", "weight_std": 1.0, "activation": {"kind": "leaky_relu", "slope": 0.1}},
    {"width": 8, "activation": "step", "coefficient_std": 1.0},
)


def draw(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    return draw_rows(params, params.law, dim, rng)


def count(params: Params, dim: int) -> int:
    return params.width + has_bias(params)


def features(params: Params, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
    """Φ : (n, p), or the columns `part` of it."""
    X = lifted(params, X)
    weights = drawn_rows(weights, params.width, X.shape[1], has_bias(params))
    begin, end = columns(part, params.width + has_bias(params))
    Phi = apply(params.activation, X @ weights[begin:end].T)
    Phi *= outer_std(params) / params.width**0.5
    if end > params.width:
        Phi = np.column_stack([Phi, np.full(len(Phi), params.bias_std)])
    return Phi


def initialise(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    """θ : (p + N d,), with a bias (p + N (d + 1),)"""
    return start(params, dim, count(params, dim), rng)


def loops(params: Params, dim: int) -> Loops:
    return compiled(params, dim, count(params, dim), second=True, first=False)


def tangent_gram(params: Params, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
    """K = Φ Φᵀ : (n, n), or (n, n') between the rows of X and of Y"""
    X = inputs(X)
    _, W = split(params, theta, X.shape[1], count(params, X.shape[1]))

    def factors(rows: Floats) -> list[tuple[Floats, Floats | None]]:
        return [(features(params, W, rows), None)]

    return hadamard_gram(factors, X, other_inputs(Y, X.shape[1]), params.width)
