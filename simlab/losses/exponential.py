"""The exponential loss of boosting, ℓ(f, y) = e^{−yf}, for labels ±1; a straight line beyond −yf = 50. MATH §10.

With u = −yf and B = 50: ℓ = e^{min(u, B)} (1 + max(u − B, 0)), which is e^u up to u = B and its tangent beyond. The
whole is convex and continuously differentiable, and nothing overflows at |f| = 1000 in float64 or float32 (e^50 is
5.2e21). ℓ' = −y e^{min(u, B)}; ℓ'' = e^u for u < B and 0 from there on, where it jumps. ℓ*(s) = t log t − t for t = −ys
from 0 to e^B, infinite elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.losses.loss import Scalars, Separable

Floats = NDArray[np.float64]
BEND = 50.0
"""−yf from which on the loss is a straight line."""
STEEPEST = math.exp(BEND) * (1.0 + 1e-12)
"""Largest −ys with a finite conjugate: e^B, and room for the rounding of a slope."""


@jit
def bounded(f: Any, y: Any) -> Any:
    """e^{min(u, B)}"""
    return math.exp(min(-y * f, type(f)(BEND)))


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    real = type(f)
    return bounded(f, y) * (real(1.0) + max(-y * f - real(BEND), real(0.0)))


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    return -y * bounded(f, y)


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    return bounded(f, y) if -y * f < BEND else type(f)(0.0)


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    t = -y * s
    if t == 0.0:
        return 0.0
    return t * math.log(t) - t if 0.0 < t <= STEEPEST else math.inf


class Exponential(Separable):
    """ℓ(f, y) = e^{−yf}"""

    labels: ClassVar[Literal["real", "signs", "classes"]] = "signs"
    smooth: ClassVar[bool] = False

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)
