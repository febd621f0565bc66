"""Double-double arithmetic: x = hi + lo with |lo| ≤ ulp(hi)/2, about 32 digits, in compiled loops.

For sums whose terms cancel to far below 1e-16 of them. Sums and products are Dekker's and Knuth's, exact up to a few
2^−104; no fused multiply-add is asked for, so that the numbers are the same on every machine. A number is a pair
(hi, lo). Only numbers of ordinary size are meant: products must neither overflow nor come near 1e-290.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit

Double = tuple[float, float]
SPLIT = 134217729.0  # 2^27 + 1
STEPS = 64  # angles of the table, from 0 to π
TERMS = 11  # of the arc sine up to sin(π/128), where the next is below 1e-34


def _pair(x: Fraction) -> Double:
    return float(x), float(x - Fraction(float(x)))


def _angles() -> NDArray[np.float64]:
    """kπ/64, its sine and its cosine, k = 0 … 64, each as a pair: Taylor's series with integers of 45 digits."""
    one = 10**45
    pi = 3141592653589793238462643383279502884197169399
    rows = []
    for k in range(STEPS + 1):
        x = k * pi // STEPS
        sums, term, n = [one, 0], one, 0
        while term:
            n += 1
            term = term * x // one // n
            sums[n % 2] += term if n % 4 < 2 else -term
        rows.append([part for value in (x, sums[1], sums[0]) for part in _pair(Fraction(value, one))])
    return np.array(rows)


TABLE = _angles()
ASIN = np.array([_pair(Fraction(math.comb(2 * n, n), 4**n * (2 * n + 1))) for n in range(TERMS)])
PI: Double = (float(TABLE[-1, 0]), float(TABLE[-1, 1]))


@jit
def two_sum(a: float, b: float) -> Double:
    """a + b, exactly."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


@jit
def two_prod(a: float, b: float) -> Double:
    """a b, exactly."""
    p = a * b
    x = SPLIT * a
    ah = x - (x - a)
    al = a - ah
    x = SPLIT * b
    bh = x - (x - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@jit
def add(x: Double, y: Double) -> Double:
    s, e = two_sum(x[0], y[0])
    t, f = two_sum(x[1], y[1])
    s, e = two_sum(s, e + t)
    return two_sum(s, e + f)


@jit
def mul(x: Double, y: Double) -> Double:
    p, e = two_prod(x[0], y[0])
    return two_sum(p, e + (x[0] * y[1] + x[1] * y[0]))


@jit
def neg(x: Double) -> Double:
    return -x[0], -x[1]


@jit
def div(x: Double, y: Double) -> Double:
    q = x[0] / y[0]
    r = add(x, neg(mul((q, 0.0), y)))
    return two_sum(q, r[0] / y[0])


@jit
def sqrt(x: Double) -> Double:
    """The root; 0 for what rounding has made negative."""
    if x[0] <= 0.0:
        return 0.0, 0.0
    r = math.sqrt(x[0])
    rest = add(x, neg(two_prod(r, r)))
    return two_sum(r, rest[0] / (2.0 * r))


@jit
def angle(y: Double, x: Double, r: Double) -> Double:
    """atan2(y, x) in [0, π] for y ≥ 0 and r = √(x² + y²) > 0: the nearest angle of the table and an arc sine."""
    k = round(STEPS / math.pi * math.atan2(y[0], x[0]))
    row = TABLE[k]
    z = div(add(mul(y, (row[4], row[5])), neg(mul(x, (row[2], row[3])))), r)
    square = mul(z, z)
    total = (ASIN[TERMS - 1, 0], ASIN[TERMS - 1, 1])
    for n in range(TERMS - 2, -1, -1):
        total = add(mul(total, square), (ASIN[n, 0], ASIN[n, 1]))
    return add((row[0], row[1]), mul(total, z))
