"""The softmax or cross-entropy loss, ℓ(f, y) = −Σ_c y_c f_c + log Σ_c e^{f_c}, y one-hot, c ≥ 2 outputs. MATH §10.

With m = f_k the largest output, e_c = e^{f_c − m}, E = Σ_{c≠k} e_c and p_c = e_c/(1 + E):

    ℓ = log(1 + E) + Σ_c y_c (m − f_c),   ℓ' = p − y,   ℓ'' = diag p − p pᵀ

No exponential overflows. E leaves out e_k = 1, so that a small loss keeps its digits; so does the slope of the label's
own output, p_k − 1 = −E/(1 + E). ℓ*(s) = Σ_c q_c log q_c where q = s + y is a probability vector, to within 1e-9;
infinite elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numba import float64, void
from numpy.typing import ArrayLike, NDArray

from simlab.core.jit import jit
from simlab.losses import _elementwise, tiles
from simlab.losses.logistic import x_log_x
from simlab.losses.loss import Loss

Array = NDArray[Any]
Floats = NDArray[np.float64]
ROUNDING = 1e-9
"""How far q may be from a probability vector, in its sum and below 0."""


@jit
def sample(f: Array, y: Array, factor: Any, weight: Any) -> Any:
    """ℓ(factor·f, y) of one sample, f and y : (c,); then f ← weight·ℓ'."""
    one, zero = type(factor)(1.0), type(factor)(0.0)
    largest = 0
    for c in range(f.size):
        f[c] = factor * f[c]
        if f[c] > f[largest]:
            largest = c
    top, rest, lack = f[largest], zero, zero
    for c in range(f.size):
        lack += y[c] * (top - f[c])
        if c != largest:
            f[c] = math.exp(f[c] - top)
            rest += f[c]
    for c in range(f.size):
        if c == largest:
            f[c] = weight * (((one - y[c]) - y[c] * rest) / (one + rest))
        else:
            f[c] = weight * (f[c] / (one + rest) - y[c])
    return math.log1p(rest) + lack


@jit(signatures=tiles.SIGNATURES)
def loss(F: Array, Y: Array, factor: float, weight: float, a: Floats) -> float:
    total = 0.0
    for i in range(Y.shape[0]):
        total += np.float64(sample(F[:, i], Y[i], factor, weight))
    return total


@jit(signatures=[void(float64[:, ::1], float64[:, ::1], float64[::1])])
def _each(f: Floats, y: Floats, values: Floats) -> None:
    """values ← ℓ, f ← ℓ'"""
    for i in range(values.size):
        values[i] = sample(f[i], y[i], 1.0, 1.0)


@jit(signatures=[void(float64[:, ::1], float64[::1])])
def _negative_entropies(q: Floats, out: Floats) -> None:
    for i in range(out.size):
        total, entropy, least = 0.0, 0.0, 0.0
        for c in range(q.shape[1]):
            total += q[i, c]
            entropy += x_log_x(q[i, c])
            least = min(least, q[i, c])
        # The comparison is so written that NaN gives infinity.
        out[i] = entropy if abs(total - 1.0) <= ROUNDING and least >= -ROUNDING else math.inf


class Softmax(Loss):
    """ℓ(f, y) = −Σ_c y_c f_c + log Σ_c e^{f_c}"""

    labels: ClassVar[Literal["real", "signs", "classes"]] = "classes"
    separable: ClassVar[bool] = False

    def tile(self) -> tuple[Callable[..., float], Floats]:
        return loss, self.numbers()

    def value(self, f: ArrayLike, y: ArrayLike) -> Floats:
        return self._both(f, y)[0]

    def slope(self, f: ArrayLike, y: ArrayLike) -> Floats:
        return self._both(f, y)[1]

    def curvature(self, f: ArrayLike, y: ArrayLike) -> Floats:
        Y = _elementwise.pair(f, y)[1]
        slopes = self.slope(f, y)
        p, others = slopes + Y, (1.0 - Y) - slopes  # p and 1 − p, neither by a difference of near numbers
        out: Floats = -p[:, :, None] * p[:, None, :]
        diagonal = np.arange(p.shape[1])
        out[:, diagonal, diagonal] = p * others
        return out

    def conjugate(self, s: ArrayLike, y: ArrayLike) -> Floats:
        S, Y = _elementwise.pair(s, y, "s")
        out = np.empty(len(S))
        _negative_entropies(S + Y, out)
        return out

    def _both(self, f: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """ℓ : (n,) and ℓ' : (n, c)"""
        given, Y = _elementwise.pair(f, y)
        slopes, values = given.copy(), np.empty(len(given))
        _each(slopes, Y, values)
        return values, slopes

    def largest_curvature(self) -> float:
        return 0.5
