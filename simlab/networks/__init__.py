"""networks: finite-width networks, their gradients and tangent kernels, and maps to random features.

A kind defines `Params`, and what it defines besides says to which of three groups it belongs, perhaps to several.
With θ the flat vector of all weights:

- *nets*, functions of θ:
  ``initialise(params, dim, rng) -> theta``; ``forward(params, theta, X) -> f (n,)``, (n, outputs) where
  ``params.outputs > 1``; ``hidden(params, theta, X) -> H (n, m)``, if it tells: the last hidden layer, scaled so that
  H Hᵀ tends to the covariance of f;
- *trainable* nets, which also have
  ``sizes(params, dim) -> int64 array`` and ``output_scale(params) -> float``, what the gradient needs of `params`,
  ``scratch_size(params, dim, n) -> int``, the floats of scratch space it needs,
  ``gradient``, compiled, of signature `simlab.networks._signature.GRADIENT`, so that one descent loop serves all, and
  ``tangent_gram(params, theta, X) -> K (n, n)``, K_ij = ⟨∇f(x_i), ∇f(x_j)⟩;
- *feature maps*, whose weights are drawn once and stay:
  ``draw(params, dim, rng) -> weights``, the same for training and test inputs; ``count(params, dim) -> p``;
  ``features(params, weights, X, part=None) -> Phi (n, p)``, or its columns in the slice `part`, scaled so that Φ Φᵀ
  tends to the limiting kernel; ``exact(params, X, Y=None) -> K``, if it tells: that kernel.
"""

from __future__ import annotations

from typing import Any

from simlab.core import lookup
from simlab.core.params import Params, parse


def get(name: str, **fields: Any) -> Params:
    """The network of this name: ``get("random_features", width=500, activation="erf")``."""
    chosen: Params = parse(lookup.get("networks", name, "network").Params, fields, f"network {name}")
    return chosen
