"""networks: finite-width networks, their gradients and tangent kernels, and maps to random features.

A kind defines `Params`, and what it defines besides says to which of three groups it belongs, perhaps to several.
With θ the flat vector of all weights:

- *nets*, functions of θ:
  ``initialise(params, dim, rng) -> theta``; ``forward(params, theta, X) -> f (n,)``, (n, outputs) where
  ``params.outputs > 1``; ``hidden(params, theta, X) -> H (n, m)``, if it tells: the last hidden layer, scaled so that
  H Hᵀ tends to the covariance of f;
- *trainable* nets, which also have
  ``loops(params, dim) -> simlab.networks.bound.Loops``: compiled f, ∇R, J v and Jᵀ R of the signatures of
  `simlab.networks.signature`, so that one descent loop serves all, and what they take (`bound.Bound` gives them as
  methods), and
  ``tangent_gram(params, theta, X, Y=None) -> K (n, n)``, K_ij = ⟨∇f(x_i), ∇f(x_j)⟩ over what is trained;
- *feature maps*, whose weights are drawn once and stay:
  ``draw(params, dim, rng) -> weights``, the same for training and test inputs; ``count(params, dim) -> p``;
  ``features(params, weights, X, part=None) -> Phi (n, p)``, or its columns in the slice `part`, scaled so that Φ Φᵀ
  tends to the limiting kernel; ``exact(params, X, Y=None) -> K``, if it tells: that kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import checks, lookup
from simlab.core.params import Params, parse


def get(name: str, **fields: Any) -> Params:
    """The network of this name: ``get("random_features", width=500, activation="erf")``."""
    checks.instance(name, "network", str, "the name of a kind, a string")
    chosen: Params = parse(lookup.get("networks", name, "network").Params, fields, f"network {name}")
    return chosen


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
