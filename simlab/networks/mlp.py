"""A fully connected net of L weight layers as drawn: a Gaussian process in the limit of great width. MATH §3.

    h¹ = W¹ x̃,   x̃ = (σ_w x/√d, σ_b),     h^ℓ = W^ℓ ã^{ℓ−1},   ã = (σ_w φ(h)/√m, σ_b),     f = h^L ∈ R^outputs

with every entry of every W from N(0, 1), the bias being the last column (none where σ_b = 0): NTK parametrisation.
``weight_std`` left out is the normalised family: x̃ = x, and σ_w² = 1/E φ(z)² at unit variance after it. So in either

    E f(x) f(y) → nngp(L, φ, σ_w, σ_b)   as m → ∞ (exactly it at any m for L = 2; else with a bias ~ 1/m),

and f becomes Gaussian. `hidden` is H = ã^{L−1} (n, m), with a bias (n, m + 1): H Hᵀ, the conjugate kernel of a net of
which only the top layer is trained, tends to the same limit; its entries' variance falls as 1/m.

`bottleneck` keeps the first hidden layer at a fixed width k: whatever m, H Hᵀ then stays random and f a mixture of
Gaussians. A control for both statements.

θ = (W¹, …, W^L), each row by row, of `size` entries.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.activations._apply import apply
from simlab.core.errors import BadInput
from simlab.networks._wide import Wide, has_bias, lifted, outer_std, with_bias

Floats = NDArray[np.float64]


class Params(Wide):
    depth: int = Field(ge=1, le=1000, description="number L of weight layers; 2 is one hidden layer")
    outputs: int = Field(1, ge=1, description="number of outputs")
    bottleneck: int | None = Field(None, ge=1, description="width of the first hidden layer where it differs")

    @model_validator(mode="after")
    def _has_a_hidden_layer(self) -> Params:
        if self.bottleneck is not None and self.depth == 1:
            raise ValueError(f"bottleneck = {self.bottleneck}: a net of depth 1 has no hidden layer")
        return self


EXAMPLES = (
    {"width": 7, "depth": 3},
    {"width": 7, "depth": 2, "activation": "erf", "weight_std": 1.5, "bias_std": 0.5, "outputs": 3},
    {"width": 7, "depth": 4, "bottleneck": 2, "weight_std": 1.4142135623730951},
    {"width": 7, "depth": 1},
)


def shapes(params: Params, dim: int) -> list[tuple[int, int]]:
    """The shape of each W."""
    widths = [params.width] * (params.depth - 1)
    if params.bottleneck is not None:
        widths[0] = params.bottleneck
    bias = has_bias(params)
    return [(wide, narrow + bias) for narrow, wide in itertools.pairwise([dim, *widths, params.outputs])]


def size(params: Params, dim: int) -> int:
    """Number of weights and biases."""
    return sum(rows * columns for rows, columns in shapes(params, dim))


def initialise(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    """θ : (size,)"""
    return rng.standard_normal(size(params, dim))


def layers(params: Params, theta: Floats, dim: int) -> list[Floats]:
    """The matrices W¹ … W^L that θ holds."""
    if theta.shape != (size(params, dim),):
        raise BadInput(f"theta: shape {theta.shape}; must be ({size(params, dim)},) for inputs in R^{dim}")
    each = shapes(params, dim)
    cuts = np.cumsum([rows * columns for rows, columns in each])[:-1]
    return [W.reshape(shape) for W, shape in zip(np.split(theta, cuts), each, strict=True)]


def hidden(params: Params, theta: Floats, X: Floats) -> Floats:
    """H : (n, m), with a bias (n, m + 1); the lifted input itself at depth 1."""
    H = lifted(params, X)
    for W in layers(params, theta, np.shape(X)[1])[:-1]:
        H = apply(params.activation, H @ W.T)
        H *= outer_std(params) / len(W) ** 0.5
        H = with_bias(params, H)
    return H


def forward(params: Params, theta: Floats, X: Floats) -> Floats:
    """f : (n,), or (n, outputs) where there are several"""
    f: Floats = hidden(params, theta, X) @ layers(params, theta, np.shape(X)[1])[-1].T
    return f[:, 0] if params.outputs == 1 else f
