"""exp(−c r^{2γ}), r² = ‖x−y‖²/2, 0 < γ ≤ 1: exp(−c(1−u)^γ) on the unit sphere, whose decay γ sets. MATH §4."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from simlab.kernels._radial import Radial


class PowerExponential(Radial):
    """exp(−c r^{2γ})"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"c": 1.0, "gamma": 0.25}, {"c": 2.0, "gamma": 0.7})

    gamma: float = Field(gt=0, le=1, description="γ: 1/2 is the Laplace kernel, 1 the Gaussian")

    def power(self) -> float:
        return self.gamma


def power_exponential(c: float, gamma: float) -> PowerExponential:
    """exp(−c r^{2γ}), r² = ‖x−y‖²/2."""
    return PowerExponential(c=c, gamma=gamma)
