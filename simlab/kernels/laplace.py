"""exp(−c r), r² = ‖x−y‖²/2: the Laplace kernel, exp(−c√(1−u)) on the unit sphere. [S0 §3], MATH §4."""

from __future__ import annotations

from simlab.kernels._kernel import made
from simlab.kernels._radial import Radial


class Params(Radial):
    def power(self) -> float:
        return 0.5


EXAMPLES = ({"c": 1.0}, {"c": 3.5})


def laplace(c: float) -> Params:
    """exp(−c r), r² = ‖x−y‖²/2."""
    return made(Params, c=c)
