"""The sine, φ(z) = sin z.

F = e^{−(q+p)/2} sinh c = (e^{−e} − e^{−e'})/2 and Ḟ = E cos z cos z' = (e^{−e} + e^{−e'})/2 with the exponents
e = (q+p)/2 − c = δ + gt, e' = (q+p)/2 + c = δ + gs, g = √(qp), δ = (√q−√p)²/2, which never
overflow. At equal variances g:
1 − F/A = (1 − e^{−gt})(1 + e^{−gs})/(1 − e^{−2g}); the correlation for q ≠ p is that times e^{−δ}A(g)/√(A(q)A(p)).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations._correlations import balanced
from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return math.sin(z)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return math.cos(z)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return -0.5 * math.expm1(-2.0 * q)


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    g = math.sqrt(q) * math.sqrt(p)
    delta = 0.5 * (math.sqrt(q) - math.sqrt(p)) ** 2
    near, far = math.exp(-g * t), math.exp(-g * s)
    slope_dual = 0.5 * math.exp(-delta) * (near + far)
    norm, at_g = math.sqrt(A) * math.sqrt(B), -0.5 * math.expm1(-2.0 * g)
    if norm == 0.0 or at_g == 0.0:
        return 1.0, 1.0, slope_dual
    # √(A(q)A(p)) ≤ A(√(qp)), by a factor 1 − O((q−p)²): it is lost in rounding where q and p are close.
    gain = 1.0 if abs(q - p) <= 1e-9 * q else at_g / norm
    lost = max(0.0, 1.0 - gain - gain * math.expm1(-delta))
    tau = -0.5 * math.expm1(-g * t) * (1.0 + far) / at_g
    sigma = -0.5 * math.expm1(-g * s) * (1.0 + near) / at_g
    tau, sigma = balanced(lost + (1.0 - lost) * tau, lost + (1.0 - lost) * sigma)
    return tau, sigma, slope_dual


class Sin(Activation):
    """φ(z) = sin z"""

    bounded: ClassVar[bool] = True
    taylor_radius: ClassVar[float | None] = math.inf

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb] | None]:
        scale = (-q).exp()
        return [scale * (q * u).sinh() for u in us], [scale * (q * u).cosh() for u in us] if tangent else None

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.sin: {}, math.sin: {}}

    def taylor_size(self, i: int) -> arb:
        return 1 / arb.fac_ui(i) if i % 2 else arb(0)
