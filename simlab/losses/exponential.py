"""The exponential loss of boosting, ℓ(f, y) = e^{−yf}, for labels ±1; a straight line beyond −yf = 50. MATH §10.

With u = −yf and B = 50: ℓ = e^u for u < B, and its tangent e^B (1 + u − B) from u = B on. The whole is convex and
continuously differentiable, and nothing overflows in float64 or float32 (e^50 = 5.2e21). ℓ' = −y e^{min(u, B)};
ℓ'' = e^u for u < B and 0 from there on, where it jumps. ℓ*(s) = t log t − t for t = −ys from 0 to e^B, infinite
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
BEND = 50.0
"""−yf from which on the loss is a straight line."""
STEEPEST = math.exp(BEND)


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    u, real = -y * f, type(f)
    return math.exp(u) if u < BEND else real(STEEPEST) * (real(1.0) + (u - real(BEND)))


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    u = -y * f
    return -y * (math.exp(u) if u < BEND else type(f)(STEEPEST))


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    u = -y * f
    return math.exp(u) if u < BEND else type(f)(0.0)


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
