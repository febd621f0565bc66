"""The cosine, φ(z) = cos z.

F = e^{−(q+p)/2} cosh c = (e^{−e} + e^{−e'})/2 and Ḟ = E sin z sin z' = (e^{−e} − e^{−e'})/2 with e, e' of `sin`,
e = δ + gt, e' = δ + gs, g = √(qp), δ = (√q−√p)²/2. At equal variances g:
1 − F/A = (1 − e^{−gt})(1 − e^{−gs})/(1 + e^{−2g}); the correlation for q ≠ p is that times e^{−δ}A(g)/√(A(q)A(p)).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return math.cos(z)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return -math.sin(z)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 0.5 * (1.0 + math.exp(-2.0 * q))


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    g = math.sqrt(q) * math.sqrt(p)
    delta = 0.5 * (math.sqrt(q) - math.sqrt(p)) ** 2
    # e^{−e} − e^{−e'} = ±e^{−min} (1 − e^{−2|c|}), c = g(s−t)/2
    slope_dual = -0.5 * math.exp(-delta - g * min(t, s)) * math.expm1(-g * abs(s - t))
    at_g = 0.5 * (1.0 + math.exp(-2.0 * g))
    gain = 1.0 if abs(q - p) <= 1e-9 * q else at_g / (math.sqrt(A) * math.sqrt(B))
    lost = max(0.0, 1.0 - gain - gain * math.expm1(-delta))
    tau = lost + (1.0 - lost) * 0.5 * math.expm1(-g * t) * math.expm1(-g * s) / at_g
    return tau, 2.0 - tau, slope_dual if s > t else -slope_dual


class Cos(Activation):
    """φ(z) = cos z"""

    bounded: ClassVar[bool] = True
    taylor_radius: ClassVar[float | None] = math.inf

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb] | None]:
        scale = (-q).exp()
        return [scale * (q * u).cosh() for u in us], [scale * (q * u).sinh() for u in us] if tangent else None

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.cos: {}, math.cos: {}}

    def taylor_size(self, i: int) -> arb:
        return arb(0) if i % 2 else 1 / arb.fac_ui(i)
