"""activations: φ, φ' and their duals, one file a kind. MATH §2.

For (z, z') centred Gaussian with variances q, p and correlation u = 1 − t = s − 1 (both t and s accurate to their last
digits, so that nothing is lost near u = ±1): F = E φ(z)φ(z'), Ḟ = E φ'(z)φ'(z'). A kind defines `Params` and, compiled
with the signatures of `simlab.activations.signature`,

- ``phi(z, a)`` and ``dphi(z, a)``, where ``a = numbers(params)`` is a float64 array of what they need of the
  parameters;
- ``variance(q, a) -> F(q, q, u = 1)``;
- ``dual(q, p, A, B, t, s, a) -> (τ, σ, Ḟ)``, A = variance(q), B = variance(p): the correlation after the activation
  is F/√(AB) = 1 − τ = σ − 1. τ = σ = 1 where A or B is 0. τ is exactly 0 for q = p, t = 0. Never NaN for finite q, p.
  Closed forms keep the digits of τ near u = 1 (of σ near u = −1 where φ is odd) for q = p; for q ≠ p they and the
  quadrature of tanh, softplus and custom are right to about 1e-15 and 1e-12;

(ask for these four with `compiled`: those of `custom` belong to the φ it is given); for numbers of any precision

- ``arb_dual(params, q, us, tangent) -> (F's, Ḟ's)`` for variances q = p (an `arb`) and a list of correlations, in Arb
  at the context's precision; the second list is None unless `tangent`. None instead of a function where φ is only
  known in float64;

and what is known of its shape:

- ``homogeneity(params) -> 0 | 1 | None``: φ(λz) = λ^h φ(z) for λ > 0;
- ``degree(params) -> int | None``: of the polynomial that φ is;
- ``kinks(params) -> tuple of floats``: where φ or φ' jumps; ``jumps(params) -> bool``: φ itself jumps, which makes Ḟ
  infinite on the diagonal (no tangent kernel) and the dual a function of √t.

A kind imports from `_smooth` what it has nothing special to say about.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from simlab.activations._functions import kind_of_function
from simlab.core import checks, lookup
from simlab.core.errors import BadInput, SimlabError, shown
from simlab.core.params import Params, kind_of, module_of, parse

__all__ = ["custom", "get", "of_function"]

# Imported before the function of the same name is bound below: an import binds the module to its name once, the first.
importlib.import_module("simlab.activations.custom")


def get(name: str, **fields: Any) -> Params:
    """The activation of this name: ``get("leaky_relu", slope=0.1)``."""
    checks.instance(name, "activation", str, "the name of a kind, a string")
    module = lookup.get("activations", name, "activation")
    chosen: Params = parse(module.Params, fields, f"activation {name}")
    return chosen


def custom(phi: Any, dphi: Any = None, kinks: Any = ()) -> Params:
    """An activation from a function of one float: ``custom(lambda z: max(z, 0.0), kinks=(0.0,))``."""
    return get("custom", phi=phi, dphi=dphi, kinks=kinks)


def of_function(function: Any, key: str = "activation") -> Params:
    """The activation that a function is, told by identity: ``of_function(np.tanh)`` is ``get("tanh")``."""
    name, fields = kind_of_function(function, key)
    return get(name, **fields)


def module(activation: Any, name: str = "activation") -> Any:
    """The file of an activation's kind, refused where it is none; `name` is the argument's."""
    found = module_of(activation) if isinstance(activation, Params) else None
    if found is None or not (hasattr(found, "dual") or hasattr(found, "compiled")):
        raise BadInput(f"{name} = {shown(activation)}: must be an activation, such as activations.get('relu')")
    return found


def compiled(params: Params) -> tuple[Any, Any, Any, Any]:
    """(phi, dphi, variance, dual) of an activation."""
    module = module_of(params)
    if hasattr(module, "compiled"):
        own: tuple[Any, Any, Any, Any] = module.compiled(params)
        return own
    return module.phi, module.dphi, module.variance, module.dual


@functools.lru_cache(maxsize=256)
def unit_weight(params: Params) -> float:
    """1/E φ(z)² at unit variance: σ_w² of the normalised family. MATH §3."""
    _, _, variance, _ = compiled(params)
    second = variance(1.0, module_of(params).numbers(params))
    if not 0.0 < second < np.inf:
        raise SimlabError(f"{kind_of(params)}: E φ(z)² = {second}: it cannot be normalised; give weight_std")
    return float(1.0 / second)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
