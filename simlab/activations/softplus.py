"""Softplus, φ(z) = log(1 + e^z), by quadrature (`_numeric`); in Arb by the Hermite series of `_fourier`.

φ' = 1/(1 + e^{−z}), and φ'' = 1/(4 cosh²(z/2)) has the Fourier transform ∫ φ''(z) e^{−ikz} dz = πk/sinh(πk).
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations._fourier import series_dual, tangent_coefficient
from simlab.activations._numeric import PAIR, by_quadrature
from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import PHI
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@jit(signatures=[PAIR])
def pair(z: float, a: Floats) -> tuple[float, float]:
    e = math.exp(-abs(z))
    return max(z, 0.0) + math.log1p(e), (1.0 if z > 0.0 else e) / (1.0 + e)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return pair(z, a)[1]


variance, dual = by_quadrature(pair, "softplus")


class Softplus(Activation):
    """φ(z) = log(1 + e^z)"""

    taylor_radius: ClassVar[float | None] = math.pi

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        return series_dual(2, 1, ("log 2", "0.5"), q, us, tangent)

    def taylor_size(self, i: int) -> arb:
        """log 2, ½, t_{i−1}/(i 2^i) for even i"""
        if i < 2:
            return arb(0.5) if i else arb(2).log()
        return tangent_coefficient(i - 1) / (i * arb(2) ** i)
