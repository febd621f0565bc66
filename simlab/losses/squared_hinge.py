"""The squared hinge loss, ℓ(f, y) = ½ max(0, 1 − yf)², for labels ±1. MATH §10.

With the lack of margin r = max(0, 1 − yf): ℓ' = −yr; ℓ'' = 1 for yf < 1, and 0 from yf = 1 on, where it jumps.
ℓ*(s) = t²/2 − t for t = −ys ≥ 0, infinite elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.losses.hinge import value as lack
from simlab.losses.loss import Scalars, Separable

Floats = NDArray[np.float64]


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    r = lack(f, y, a)
    return type(f)(0.5) * r * r


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    return -y * lack(f, y, a)


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    return type(f)(1.0 if y * f < 1 else 0.0)


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    t = -y * s
    return t * (0.5 * t - 1.0) if t >= 0.0 else math.inf


class SquaredHinge(Separable):
    """ℓ(f, y) = ½ max(0, 1 − yf)²"""

    labels: ClassVar[Literal["real", "signs", "classes"]] = "signs"
    smooth: ClassVar[bool] = False

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)

    def largest_curvature(self) -> float:
        return 1.0
