"""What the sign and the step share: φ is constant but for a jump of height h at 0.

φ' is 0 but for a point mass h at 0, so that Ḟ = ∂F/∂c = h²/(2π√(qp(1−u²))) is infinite at u = ±1: there is no tangent
kernel.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation
from simlab.activations.signature import PHI
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 0.0


@jit
def slope_of_jump(half_square: float, q: float, p: float, t: float, s: float) -> float:
    """Ḟ; `half_square` = h²/2."""
    return half_square / np.pi / (math.sqrt(q) * math.sqrt(p) * math.sqrt(t) * math.sqrt(s))


class Jump(Activation):
    """A φ with two values and a jump at 0."""

    bounded: ClassVar[bool] = True

    def arb_slopes(self, half_square: float, q: arb, us: list[arb]) -> list[arb]:
        """Ḟ at the correlations `us`; `half_square` = h²/2."""
        pi, size = arb.pi(), arb(half_square)
        return [arb.pos_inf() if u in (1, -1) else size / (pi * q * (1 - u * u).sqrt()) for u in us]

    def homogeneity(self) -> int | None:
        return 0

    def kink_points(self) -> tuple[float, ...]:
        return (0.0,)

    def jumps(self) -> bool:
        return True
