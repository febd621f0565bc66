"""The hyperbolic tangent, φ(z) = tanh z, by quadrature (`_numeric`); in Arb by the Hermite series of `_fourier`.

φ' = 1 − φ² = 1/cosh² z has the Fourier transform ∫ φ'(z) e^{−ikz} dz = πk/sinh(πk/2).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

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
    return math.tanh(z)


@jit(signatures=[PAIR])
def pair(z: float, a: Floats) -> tuple[float, float]:
    # 2e/(1+e) = 1 − |tanh z|, e = e^{−2|z|}: φ' = (1−|φ|)(1+|φ|) keeps its digits far out.
    e = math.exp(-2.0 * abs(z))
    rest = 2.0 * e / (1.0 + e)
    return math.copysign(1.0 - rest, z) if rest < 0.5 else math.tanh(z), rest * (2.0 - rest)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return pair(z, a)[1]


variance, dual = by_quadrature(pair, "tanh")


class Tanh(Activation):
    """φ(z) = tanh z"""

    bounded: ClassVar[bool] = True
    taylor_radius: ClassVar[float | None] = 0.5 * math.pi

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        return series_dual(1, 2, ("0",), q, us, tangent)

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.tanh: {}, math.tanh: {}}

    def taylor_size(self, i: int) -> arb:
        return tangent_coefficient(i)
