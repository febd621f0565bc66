"""Huber's loss, squared near 0 and a straight line beyond the width δ, for real labels. MATH §10.

With r = f − y per output: ℓ = r²/2 for |r| ≤ δ and δ(|r| − δ/2) beyond; ℓ' = r, and ±δ beyond; ℓ'' = 1 for |r| < δ, and
0 from |r| = δ on, where it jumps. ℓ*(s) = s²/2 + sy for |s| ≤ δ, infinite elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import jit
from simlab.losses.loss import Scalars, Separable

Floats = NDArray[np.float64]


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    real = type(f)
    size, delta = abs(f - y), real(a[0])
    inner = min(size, delta)  # both branches in one formula: |r| up to δ, δ beyond
    return inner * (size - real(0.5) * inner)


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    delta = type(f)(a[0])
    return min(max(f - y, -delta), delta)


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    return type(f)(1.0 if abs(f - y) < a[0] else 0.0)


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    return s * (0.5 * s + y) if abs(s) <= a[0] else math.inf


class Huber(Separable):
    """ℓ(f, y) = r²/2 for |r| ≤ δ, δ(|r| − δ/2) beyond; r = f − y"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"width": 0.3})
    smooth: ClassVar[bool] = False

    width: float = Field(1.0, ge=1e-9, le=1e9, description="δ, the residual from which on the loss is a straight line")

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)

    def numbers(self) -> Floats:
        """(δ,)"""
        return np.array([self.width])

    def largest_curvature(self) -> float:
        return 1.0
