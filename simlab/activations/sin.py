"""The sine, φ(z) = sin z. Its F and Ḟ are those of `_wave`.

At equal variances g: 1 − F/A = (1 − e^{−gt})(1 + e^{−gs})/(1 − e^{−2g}). For q ≠ p the correlation is that of g times
e^{−δ} A(g)/√(A(q)A(p)).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.activations._correlations import balanced
from simlab.activations._wave import Wave, lost_to_unequal
from simlab.activations.activation import Compiled
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
    lost = lost_to_unequal(q, p, delta, at_g, norm)
    tau = -0.5 * math.expm1(-g * t) * (1.0 + far) / at_g
    sigma = -0.5 * math.expm1(-g * s) * (1.0 + near) / at_g
    tau, sigma = balanced(lost + (1.0 - lost) * tau, lost + (1.0 - lost) * sigma)
    return tau, sigma, slope_dual


class Sin(Wave):
    """φ(z) = sin z"""

    odd: ClassVar[bool] = True

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.sin: {}, math.sin: {}}
