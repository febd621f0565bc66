"""Zonal functions f(x) = g(w·x̂) of chosen smoothness, E f² = 1, x̂ = x/‖x‖, w uniform.

"exp": g(u) = e^{su}/√(E e^{2su}), analytic. E e^{su}P_k = (s/2)^k Γ(d/2)/Γ(k+d/2) · 0F1(k+d/2; s²/4).
"power_decay": g = Σ_{k=1}^{K} ε_k √(p_k N_k) P_k, p_k ∝ k^{−b} with sum 1, random signs ε_k (without them all degrees
would add up at x̂ = w). As K → ∞ it lies in H^β for β < (b−1)/2: the target of a source condition.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.special import gammaln, hyp0f1

from simlab.sphere.legendre import legendre_sum
from simlab.sphere.multiplicity import log_multiplicity
from simlab.sphere.zonal import axes
from simlab.targets._directions import check_directions, cosines
from simlab.targets.target import Floats, Function, Target, check_power


class SmoothZonal(Target):
    """f(x) = g(w·x̂), E f² = 1."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"family": "exp", "s": 2.0},
        {"family": "power_decay", "b": 2.0, "max_degree": 12},
    )
    knows_power: ClassVar[bool] = True

    family: Literal["exp", "power_decay"] = Field("exp", description="exp(s u), or a power of the degree")
    s: float = Field(1.0, gt=0, le=100, description="exp: steepness")
    b: float = Field(3.0, gt=0, description="power_decay: p_k ∝ k^(−b)")
    max_degree: int = Field(30, ge=1, le=10_000, description="power_decay: largest degree K")

    def _decay(self) -> Floats:
        """p_1 … p_K of "power_decay", (K,)."""
        p = np.arange(1.0, self.max_degree + 1) ** -self.b
        return np.asarray(p / math.fsum(p))

    def check(self, dim: int) -> None:
        check_directions(1, dim)

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        dim = self.checked(dim, rng)
        w = axes(1, dim, rng)[0]
        if self.family == "exp":
            shift = 0.5 * math.log(hyp0f1(dim / 2, self.s**2))
            return lambda X: np.exp(self.s * cosines(X, w) - shift)
        logs = np.array([log_multiplicity(dim, k) for k in range(1, self.max_degree + 1)])
        sizes = rng.choice([-1.0, 1.0], size=self.max_degree) * np.exp(0.5 * (np.log(self._decay()) + logs))
        coefficients = np.concatenate(([0.0], sizes))
        return lambda X: legendre_sum(dim, coefficients, cosines(X, w))

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        """As in the contract; exact, and the same on a sphere of any radius."""
        dim, max_degree, _ = check_power(dim, max_degree, radius)
        p = np.zeros(max_degree + 1)
        if self.family == "power_decay":
            known = min(max_degree, self.max_degree)
            p[1 : known + 1] = self._decay()[:known]
            return p
        k = np.arange(max_degree + 1)
        logs = k * math.log(self.s / 2) + gammaln(dim / 2) - gammaln(k + dim / 2)
        logs += np.log(hyp0f1(k + dim / 2, self.s**2 / 4)) - 0.5 * math.log(hyp0f1(dim / 2, self.s**2))
        return np.asarray(np.exp(2 * logs + [log_multiplicity(dim, int(degree)) for degree in k]))
