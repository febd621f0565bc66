"""The logistic loss, ℓ(f, y) = log(1 + e^{−yf}), for labels ±1. MATH §10.

With the margin z = yf: ℓ = max(−z, 0) + log(1 + e^{−|z|}), which neither overflows nor loses digits; ℓ' = −yσ(−z) and
ℓ'' = σ(z)σ(−z), where σ(z) = 1/(1 + e^{−z}). ℓ*(s) = t log t + (1 − t) log(1 − t) for t = −ys from 0 to 1, infinite
elsewhere.
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
    z = y * f
    return max(-z, type(f)(0.0)) + math.log1p(math.exp(-abs(z)))


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    z, one = y * f, type(f)(1.0)
    e = math.exp(-abs(z))
    return -y * (e if z > 0 else one) / (one + e)


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    e = math.exp(-abs(f))
    rest = type(f)(1.0) + e
    return e / (rest * rest)


@jit
def x_log_x(x: float) -> float:
    return x * math.log(x) if x > 0.0 else 0.0


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    t = -y * s
    return x_log_x(t) + x_log_x(1.0 - t) if 0.0 <= t <= 1.0 else math.inf


class Logistic(Separable):
    """ℓ(f, y) = log(1 + e^{−yf})"""

    labels: ClassVar[Literal["real", "signs", "classes"]] = "signs"

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)

    def largest_curvature(self) -> float:
        return 0.25
