"""Duals by quadrature, for activations without a closed form.

With x, y independent standard normal, z = √q x, z' = √p(ux + vy), v = √(1−u²) = √(ts):
τ = ½ E (φ(z)/√A − φ(z')/√B)², σ = ½ E (φ(z)/√A + φ(z')/√B)², Ḟ = E φ'(z)φ'(z').
As sums of squares τ and σ keep their digits near u = ±1. Measured for q, p from 1e-6 to 1e6: errors of 4e-13 of τ and
2e-11 of Ḟ (tanh, softplus; more, 2e-12 and 4e-10, where φ has a pole at distance 1), 0.1–0.2 ms at q = 1, 0.4 ms on
the average, up to 3 ms at q = 1e6.

Both integrals run over panels (`simlab.core.quadrature`) on the disc x² + y² ≤ 8.5². φ is taken to be analytic between
its kinks, to vary on the scale 1 at 0 and at the kinks and, away from them, on the scale of the distance to them: true
of tanh, softplus and what behaves like a power far out; of a φ that oscillates only as long as √q is a few units.

Panels in x are refined about 0, about the kinks x = k/√q of φ(z), and about x = k/(√p u), where φ(z') has its kink: the
integral over y smooths that one over the length v/|u|. Panels in y are refined about the kinks of φ(z') for this x.

``pair(z, a) -> (φ, φ')``; ``a`` holds the kinks. `by_quadrature` makes the `variance` and `dual` of a kind from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from simlab.activations._correlations import balanced
from simlab.activations.signature import DUAL, VARIANCE, Dual, Variance
from simlab.core.jit import jit
from simlab.core.quadrature import NODES, WEIGHTS, next_edge

Floats = NDArray[np.float64]
Pair = Callable[[float, Floats], tuple[float, float]]

PAIR = types.UniTuple(float64, 2)(float64, float64[::1])
# Lengths in units of the standard deviation of x or y, but for NEAR_Z.
REACH = 8.5  # beyond lie 2e-17 of the normal law, 2e-15 of its second moment
LONGEST_PANEL = 4.0  # the longest panel on which 16 nodes still resolve the normal density to 1e-13
NEAR_Z = 2.0  # length, in units of z, of the panels that touch 0 or a kink: good to 1e-13 for a pole at distance 1
FINEST_PANEL = 1e-12  # a kink is not followed further than this, which is what a jump can then cost


@jit(signatures=[float64(types.FunctionType(PAIR), float64, float64[::1])], forceinline=True)
def numeric_variance(pair: Pair, q: float, a: Floats) -> float:
    """E φ(√q x)²"""
    root, n = math.sqrt(q), a.shape[0]
    centres, widths = np.zeros(n + 1), np.full(n + 1, max(NEAR_Z / root, FINEST_PANEL))
    for i in range(n):
        centres[i] = a[i] / root if a[i] != 0.0 else 0.0
    total, left = 0.0, -REACH
    while left < REACH:
        right = next_edge(left, REACH, LONGEST_PANEL, centres, widths)
        half, mid = 0.5 * (right - left), 0.5 * (right + left)
        for i in range(NODES.shape[0]):
            x = mid + half * NODES[i]
            f = pair(root * x, a)[0]
            total += half * WEIGHTS[i] * math.exp(-0.5 * x * x) * f * f
        left = right
    return total / math.sqrt(2.0 * np.pi)


@jit(
    signatures=[
        types.UniTuple(float64, 3)(
            types.FunctionType(PAIR), float64, float64, float64, float64, float64, float64, float64[::1]
        )
    ],
    forceinline=True,
)
def numeric_dual(
    pair: Pair, q: float, p: float, A: float, B: float, t: float, s: float, a: Floats
) -> tuple[float, float, float]:
    """(τ, σ, Ḟ) as `Compiled.dual` gives them"""
    n, u, v = a.shape[0], 0.5 * (s - t), math.sqrt(t) * math.sqrt(s)
    root_q, root_p, size_u = math.sqrt(q), math.sqrt(p), abs(u)
    zero = A == 0.0 or B == 0.0
    scale_q, scale_p = (0.0, 0.0) if zero else (1.0 / math.sqrt(A), 1.0 / math.sqrt(B))

    # Where the integrand varies in x: 0, then a kink of φ(z) and one of φ(z') for each kink.
    smoothed = 4.0 * v / size_u
    x_centres, x_widths = np.zeros(2 * n + 1), np.empty(2 * n + 1)
    x_widths[0] = max(min(NEAR_Z / root_q, max(NEAR_Z / root_p / size_u, smoothed)), FINEST_PANEL)
    y_kinks, y_centres = np.zeros(n + 1), np.empty(n + 1)
    for i in range(n):
        if a[i] != 0.0:
            x_centres[1 + i], x_centres[1 + n + i] = a[i] / root_q, a[i] / (root_p * u)
            y_kinks[1 + i] = a[i] / root_p
        x_widths[1 + i] = max(min(NEAR_Z / root_q, smoothed), FINEST_PANEL)
        x_widths[1 + n + i] = x_widths[1 + i]
    y_widths = np.full(n + 1, max(NEAR_Z / (root_p * v), FINEST_PANEL))

    minus, plus, slopes, left = 0.0, 0.0, 0.0, -REACH
    while left < REACH:
        right = next_edge(left, REACH, LONGEST_PANEL, x_centres, x_widths)
        half, mid = 0.5 * (right - left), 0.5 * (right + left)
        left = right
        for i in range(NODES.shape[0]):
            x = mid + half * NODES[i]
            f, df = pair(root_q * x, a)
            f *= scale_q
            inner_minus, inner_plus, inner_slope = 0.0, 0.0, 0.0
            if v == 0.0:
                g, inner_slope = pair(root_p * u * x, a)
                g *= scale_p
                inner_minus, inner_plus = (f - g) ** 2, (f + g) ** 2
            else:
                top = math.sqrt(REACH * REACH - x * x)
                for k in range(n + 1):
                    y_centres[k] = (y_kinks[k] - u * x) / v
                low = -top
                while low < top:
                    high = next_edge(low, top, LONGEST_PANEL, y_centres, y_widths)
                    y_half, y_mid = 0.5 * (high - low), 0.5 * (high + low)
                    low = high
                    for j in range(NODES.shape[0]):
                        y = y_mid + y_half * NODES[j]
                        g, dg = pair(root_p * (u * x + v * y), a)
                        g *= scale_p
                        weight = y_half * WEIGHTS[j] * math.exp(-0.5 * y * y)
                        inner_minus += weight * (f - g) * (f - g)
                        inner_plus += weight * (f + g) * (f + g)
                        inner_slope += weight * dg
                density = 1.0 / math.sqrt(2.0 * np.pi)
                inner_minus, inner_plus = inner_minus * density, inner_plus * density
                inner_slope *= density
            weight = half * WEIGHTS[i] * math.exp(-0.5 * x * x) / math.sqrt(2.0 * np.pi)
            minus += 0.5 * weight * inner_minus
            plus += 0.5 * weight * inner_plus
            slopes += weight * inner_slope * df
    if zero:
        return 1.0, 1.0, slopes
    tau, sigma = balanced(minus, plus)
    return tau, sigma, slopes


def by_quadrature(pair: Pair, named: str) -> tuple[Variance, Dual]:
    """The compiled `variance` and `dual` (`simlab.activations.Compiled`) of an activation.

    named: the kind's name, which tells their compiled code from that of other kinds (`simlab.core.jit.jit`).
    """

    @jit(signatures=[VARIANCE], named=named)
    def variance(q: float, a: Floats) -> float:
        return numeric_variance(pair, q, a)

    @jit(signatures=[DUAL], named=named)
    def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
        return numeric_dual(pair, q, p, A, B, t, s, a)

    return variance, dual
