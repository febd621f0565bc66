"""The angle of two vectors without lost digits: t = 1 − u and s = 1 + u. MATH §1.

An inner product rounds u to 1e-16, which is half of the digits of θ near u = ±1. Here w = y − λx, λ = x·y/x·x, is
formed with the exact product λx_i = p + e (`two_prod`), so that ‖w‖ = ‖y‖ sin θ keeps its digits however near x and y
are; a second projection takes away what the rounding of λ left along x. With |cos θ| from the sine the smaller of t
and s is sin²θ/(1 + |cos θ|). Vectors are scaled by powers of two first (exact), so that squares neither overflow nor
vanish.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simlab.core.double_double import two_prod
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit
def _scale(x: Floats) -> float:
    """A power of two that brings the largest entry into [½, 1); 1 for the zero vector."""
    largest = 0.0
    for value in x:
        largest = max(largest, abs(value))
    # 2^1023 at most: a reciprocal of the smallest subnormals would overflow.
    return math.ldexp(1.0, max(-1023, min(1023, -math.frexp(largest)[1]))) if largest > 0.0 else 1.0


@jit
def row_norms(X: Floats) -> Floats:
    """‖x_i‖ : (n,)"""
    norms = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        scale = _scale(X[i])
        total = 0.0
        for value in X[i]:
            total += (value * scale) ** 2
        norms[i] = math.sqrt(total) / scale
    return norms


@jit
def _minus_product(y: float, a: float, x: float) -> float:
    """y − a x with the product's rounding error taken into account."""
    product, error = two_prod(a, x)
    return (y - product) - error


@jit
def correlation(x: Floats, y: Floats) -> tuple[float, float]:
    """(t, s) of two vectors; (1, 1), a right angle, where one is zero."""
    a, b = _scale(x), _scale(y)
    xx, xy, yy = 0.0, 0.0, 0.0
    for i in range(x.size):
        xi, yi = x[i] * a, y[i] * b
        xx += xi * xi
        xy += xi * yi
        yy += yi * yi
    if xx == 0.0 or yy == 0.0:
        return 1.0, 1.0
    slope = xy / xx
    wx = 0.0
    for i in range(x.size):
        wx += _minus_product(y[i] * b, slope, x[i] * a) * (x[i] * a)
    ww = 0.0
    for i in range(x.size):
        w = _minus_product(y[i] * b, slope, x[i] * a) - wx / xx * (x[i] * a)
        ww += w * w
    # sin² = ww/yy; cos² = (yy − ww)/yy, or from the slope where w is the larger part.
    sine2 = min(ww / yy, 1.0)
    cosine = math.sqrt(1.0 - sine2) if sine2 < 0.5 else min(abs(xy) / (math.sqrt(xx) * math.sqrt(yy)), 1.0)
    near = sine2 / (1.0 + cosine) if sine2 < 0.5 else 1.0 - cosine
    return (near, 2.0 - near) if xy >= 0.0 else (2.0 - near, near)


@jit
def correlations(X: Floats, Y: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """t and s of the pairs (X[rows], Y[columns])."""
    t, s = np.empty(rows.size), np.empty(rows.size)
    for i in range(rows.size):
        t[i], s[i] = correlation(X[rows[i]], Y[columns[i]])
    return t, s
