"""exp(−c r²), r² = ‖x−y‖²/2: the Gaussian kernel, exp(−c(1−u)) on the unit sphere. MATH §4."""

from __future__ import annotations

from typing import Any, ClassVar

from simlab.kernels._radial import Radial


class Gaussian(Radial):
    """exp(−c r²)"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"c": 1.0}, {"c": 3.5})

    def power(self) -> float:
        return 1.0


def gaussian(c: float) -> Gaussian:
    """exp(−c r²), r² = ‖x−y‖²/2."""
    return Gaussian(c=c)
