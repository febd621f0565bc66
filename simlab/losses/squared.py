"""The squared loss, ℓ(f, y) = ½‖f − y‖², for real labels. MATH §10.

With r = f − y per output: ℓ' = r, ℓ'' = 1, ℓ*(s) = s²/2 + s y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core.jit import jit
from simlab.losses import tiles
from simlab.losses.loss import Scalars, Separable

Array = NDArray[Any]
Floats = NDArray[np.float64]


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    return type(f)(0.5) * (f - y) * (f - y)


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    return f - y


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    return type(f)(1.0)


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    return s * (type(s)(0.5) * s + y)


# A loop of its own: the bits of recorded runs depend on these operations in this order.
@jit(signatures=tiles.SIGNATURES, fastmath={"contract"})
def loss(F: Array, Y: Array, factor: float, weight: float, a: Floats) -> float:
    total = 0.0
    for c in range(Y.shape[1]):
        for i in range(Y.shape[0]):
            residual = factor * F[c, i] - Y[i, c]
            total += np.float64(residual) * np.float64(residual)
            F[c, i] = residual * weight
    return total / 2


class Squared(Separable):
    """ℓ(f, y) = ½‖f − y‖²"""

    quadratic: ClassVar[bool] = True

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)

    def tile(self) -> tuple[Callable[..., float], Floats]:
        return loss, self.numbers()

    def mean(self, f: ArrayLike, y: ArrayLike) -> float:
        residual = (np.asarray(f) - np.asarray(y)).ravel()  # summed so, since recorded losses depend on it to the bit
        return float(residual @ residual) / (2 * len(np.asarray(f)))

    def largest_curvature(self) -> float:
        return 1.0
