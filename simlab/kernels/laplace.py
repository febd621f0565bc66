"""exp(−c r), r² = ‖x−y‖²/2: the Laplace kernel, exp(−c√(1−u)) on the unit sphere. [S0 §3], MATH §4."""

from __future__ import annotations

from typing import Any, ClassVar

from simlab.kernels._radial import Radial


class Laplace(Radial):
    """exp(−c r)"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"c": 1.0}, {"c": 3.5})

    def power(self) -> float:
        return 0.5


def laplace(c: float) -> Laplace:
    """exp(−c r), r² = ‖x−y‖²/2."""
    return Laplace(c=c)
