"""The hinge loss of support vector machines, ℓ(f, y) = max(0, 1 − yf), for labels ±1. MATH §10.

ℓ' = −y for yf < 1 and 0 from the kink yf = 1 on; ℓ'' = 0. ℓ*(s) = ys for −ys from 0 to 1, infinite elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.losses.loss import Scalars, Separable

Floats = NDArray[np.float64]


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    real = type(f)
    return max(real(1.0) - y * f, real(0.0))


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    return -y if y * f < 1 else type(f)(0.0)


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    return type(f)(0.0)


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    return y * s if 0.0 <= -y * s <= 1.0 else math.inf


class Hinge(Separable):
    """ℓ(f, y) = max(0, 1 − yf)"""

    labels: ClassVar[Literal["real", "signs", "classes"]] = "signs"
    smooth: ClassVar[bool] = False

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)
