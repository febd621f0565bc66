"""Zonal functions f(x) = g(w·x̂) of chosen smoothness, E f² = 1, x̂ = x/‖x‖, w uniform.

"exp": g(u) = e^{su}/√(E e^{2su}), analytic. E e^{su}P_k = (s/2)^k Γ(d/2)/Γ(k+d/2) · 0F1(k+d/2; s²/4).
"power_decay": g = Σ_{k=1}^{K} ε_k √(p_k N_k) P_k, p_k ∝ k^{−b} with sum 1, random signs ε_k (without them all degrees
would add up at x̂ = w); of smoothness H^β, β < (b−1)/2, as K → ∞: the target of a source condition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import gammaln, hyp0f1

from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.sphere.legendre import legendre_sum
from simlab.sphere.multiplicity import log_multiplicity
from simlab.targets._sphere import cosines, unit_vectors

Floats = NDArray[np.float64]


class Params(Base):
    family: Literal["exp", "power_decay"] = Field("exp", description="exp(s u), or a power of the degree")
    s: float = Field(1.0, gt=0, le=100, description="exp: steepness")
    b: float = Field(3.0, gt=0, description="power_decay: p_k ∝ k^(−b)")
    max_degree: int = Field(30, ge=1, le=10_000, description="power_decay: largest degree K")


EXAMPLES = (
    {"family": "exp", "s": 2.0},
    {"family": "power_decay", "b": 2.0, "max_degree": 12},
)


def _decay(params: Params) -> Floats:
    """p_1 … p_K"""
    p = np.arange(1.0, params.max_degree + 1) ** -params.b
    return np.asarray(p / math.fsum(p))


def draw(params: Params, dim: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    w = unit_vectors(1, dim, rng)[0]
    if params.family == "exp":
        shift = 0.5 * math.log(hyp0f1(dim / 2, params.s**2))
        return lambda X: np.exp(params.s * cosines(X, w) - shift)
    logs = np.array([log_multiplicity(dim, k) for k in range(1, params.max_degree + 1)])
    sizes = rng.choice([-1.0, 1.0], size=params.max_degree) * np.exp(0.5 * (np.log(_decay(params)) + logs))
    coefficients = np.concatenate(([0.0], sizes))
    return lambda X: legendre_sum(dim, coefficients, cosines(X, w))


def power(params: Params, dim: int, max_degree: int) -> Floats:
    """Exact, for x uniform on a sphere of any radius."""
    dim, max_degree = checks.dimension(dim, least=2), checks.degree(max_degree)
    p = np.zeros(max_degree + 1)
    if params.family == "power_decay":
        known = min(max_degree, params.max_degree)
        p[1 : known + 1] = _decay(params)[:known]
        return p
    k = np.arange(max_degree + 1)
    logs = k * math.log(params.s / 2) + gammaln(dim / 2) - gammaln(k + dim / 2)
    logs += np.log(hyp0f1(k + dim / 2, params.s**2 / 4)) - 0.5 * math.log(hyp0f1(dim / 2, params.s**2))
    return np.asarray(np.exp(2 * logs + [log_multiplicity(dim, int(degree)) for degree in k]))
