"""exp(−c r²), r² = ‖x−y‖²/2: the Gaussian kernel, exp(−c(1−u)) on the unit sphere. MATH §4."""

from __future__ import annotations

from simlab.kernels._kernel import made
from simlab.kernels._radial import Radial


class Params(Radial):
    def power(self) -> float:
        return 1.0


EXAMPLES = ({"c": 1.0}, {"c": 3.5})


def gaussian(c: float) -> Params:
    """exp(−c r²), r² = ‖x−y‖²/2."""
    return made(Params, c=c)
