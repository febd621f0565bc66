"""What the sine and the cosine share: φ = sin z or cos z, φ' = cos z or −sin z.

With c = √(qp) u, g = √(qp), δ = (√q−√p)²/2 and the exponents e = (q+p)/2 − c = δ + gt, e' = (q+p)/2 + c = δ + gs,
which never overflow:

    E sin z sin z' = e^{−(q+p)/2} sinh c = (e^{−e} − e^{−e'})/2,
    E cos z cos z' = e^{−(q+p)/2} cosh c = (e^{−e} + e^{−e'})/2.
"""

from __future__ import annotations

import math
from typing import ClassVar

from flint import arb

from simlab.activations.activation import Activation
from simlab.core.jit import jit


@jit
def lost_to_unequal(q: float, p: float, delta: float, at_g: float, norm: float) -> float:
    """1 − e^{−δ} A(g)/√(A(q)A(p)), the correlation lost at u = 1 to q ≠ p; `at_g` = A(g), `norm` = √(A(q)A(p))."""
    # A(g)/√(A(q)A(p)) is 1 − O((q−p)²): lost in rounding where q and p are close.
    gain = 1.0 if abs(q - p) <= 1e-9 * q else at_g / norm
    return max(0.0, 1.0 - gain - gain * math.expm1(-delta))


class Wave(Activation):
    """sin or cos.

    odd: whether φ is odd: the sine.
    """

    bounded: ClassVar[bool] = True
    taylor_radius: ClassVar[float | None] = math.inf
    odd: ClassVar[bool]

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        scale = (-q).exp()
        own, other = (arb.sinh, arb.cosh) if self.odd else (arb.cosh, arb.sinh)
        return [scale * own(q * u) for u in us], [scale * other(q * u) for u in us] if tangent else []

    def taylor_size(self, i: int) -> arb:
        return 1 / arb.fac_ui(i) if i % 2 == self.odd else arb(0)
