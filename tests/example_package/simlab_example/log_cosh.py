"""The loss ℓ(f, y) = log cosh(f − y): squared near 0, absolute far out.

With r = f − y: ℓ = |r| + log(1 + e^{−2|r|}) − log 2, ℓ' = tanh r, ℓ'' = 1 − tanh² r. ℓ*(s) = sy + ((1+s) log(1+s) +
(1−s) log(1−s))/2 for |s| ≤ 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.losses import Scalars, Separable

Floats = NDArray[np.float64]


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    size, real = abs(f - y), type(f)
    return size + math.log1p(math.exp(-real(2.0) * size)) - real(math.log(2.0))


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    return math.tanh(f - y)


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    one, t = type(f)(1.0), math.tanh(f - y)
    return (one - t) * (one + t)


@jit
def x_log_x(x: float) -> float:
    return x * math.log(x) if x > 0.0 else 0.0


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    return s * y + 0.5 * (x_log_x(1.0 + s) + x_log_x(1.0 - s)) if abs(s) <= 1.0 else math.inf


class LogCosh(Separable):
    """ℓ(f, y) = log cosh(f − y)"""

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)
