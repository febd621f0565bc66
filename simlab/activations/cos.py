"""The cosine, φ(z) = cos z. Its F and Ḟ are those of `_wave`.

At equal variances g: 1 − F/A = (1 − e^{−gt})(1 − e^{−gs})/(1 + e^{−2g}). For q ≠ p the correlation is that of g times
e^{−δ} A(g)/√(A(q)A(p)).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.activations._wave import Wave, lost_to_unequal
from simlab.activations.activation import Compiled
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
    lost = lost_to_unequal(q, p, delta, at_g, math.sqrt(A) * math.sqrt(B))
    tau = lost + (1.0 - lost) * 0.5 * math.expm1(-g * t) * math.expm1(-g * s) / at_g
    return tau, 2.0 - tau, slope_dual if s > t else -slope_dual


class Cos(Wave):
    """φ(z) = cos z"""

    odd: ClassVar[bool] = False

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.cos: {}, math.cos: {}}
