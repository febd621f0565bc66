"""Softplus, φ(z) = log(1 + e^z), by quadrature (`_numeric`); in Arb by the Hermite series of `_fourier`.

φ' = 1/(1 + e^{−z}), and φ'' = 1/(4 cosh²(z/2)) has the Fourier transform ∫ φ''(z) e^{−ikz} dz = πk/sinh(πk).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations._fourier import series_dual
from simlab.activations._numeric import PAIR, numeric_dual, numeric_variance
from simlab.activations._smooth import degree, homogeneity, jumps, kinks, numbers  # noqa: F401 (the contract)
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit
from simlab.core.params import Params as Base

Floats = NDArray[np.float64]


class Params(Base):
    pass


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


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return numeric_variance(pair, q, a)


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    return numeric_dual(pair, q, p, A, B, t, s, a)


def arb_dual(params: Params, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb] | None]:
    return series_dual(2, 1, ("log 2", "0.5"), q, us, tangent)
