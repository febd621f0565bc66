"""Draws and quantiles of the law with density 2ν J_ν(s)²/s, from tables of one order. MATH §8.

With probability CDF(ν) the CDF below ν is inverted: log s as a function of −log(u/CDF(ν)), by panels of polynomials.
Else repeat: θ uniform in (0, π/2), s = ν/cos θ, accepted with probability (π/2) √(s²−ν²) J_ν(s)² ≤ 1. In modulus and
phase (`bessel`) that is N cos²ψ with

    N = (π/2) √(s²−ν²) M²,   ψ = ν(tan θ − θ) − π/4 + δ,

and N and δ are smooth in θ from the turning point to infinity (they vary over ν^{−1/3} near θ = 0, nowhere faster). So
two polynomials per panel take the place of a Bessel function, right to 1e-13 apart from the rounding of s itself.
Tables hold the complement ϑ = π/2 − θ, so that the tail s = ν/sin ϑ is as fine as the uniform number is.
Between ν and S₁ quantiles invert panels of the CDF, beyond S₁ the survival's series.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, jv, yv

from simlab.core.jit import jit
from simlab.sphere import bessel

Floats = NDArray[np.float64]

LOG_DEPTH = 40.0
"""Panels below ν reach down to CDF(ν) e^{−40}, less than any uniform number of 53 bits."""


def panels(function: Callable[[Floats], Floats], edges: Floats, degree: int) -> Floats:
    """Coefficients (panels, degree+1) of polynomials in z ∈ [−1, 1] through the values at Chebyshev's points."""
    z = np.polynomial.chebyshev.chebpts1(degree + 1)
    x = 0.5 * (edges[:-1] + edges[1:])[:, np.newaxis] + 0.5 * np.diff(edges)[:, np.newaxis] * z
    fitted = np.polynomial.chebyshev.chebfit(z, function(x.ravel()).reshape(x.shape).T, degree)
    powers = np.zeros((degree + 1, degree + 1))  # of T_k in row k
    for k in range(degree + 1):
        powers[k, : k + 1] = np.polynomial.chebyshev.cheb2poly(np.eye(degree + 1)[k, : k + 1])
    return np.ascontiguousarray(fitted.T @ powers)


@dataclass(frozen=True, eq=False)
class Tables:
    """Polynomials on panels, (panels, degree+1) each as of `panels`.

    order: ν.
    mass_below: CDF(ν).
    below: log s as a function of −log(u/CDF(ν)) on [0, 40].
    modulus, phase: N and δ as functions of ϑ on [0, π/2].
    edges: ends of the panels of `middle`, from ν to S₁.
    heights: CDF at `edges`.
    middle: CDF as a function of s.
    """

    order: float
    mass_below: float
    below: Floats
    modulus: Floats
    phase: Floats
    edges: Floats
    heights: Floats
    middle: Floats


def invert_below(order: float, u: Floats) -> Floats:
    """s with CDF(s) = u > 0, for u ≤ CDF(ν): Newton for log CDF as a function of log s.

    It is concave, and J_ν ≤ (s/2)^ν/Γ(ν+1) starts on the left, so that every step stays there and none overshoots.
    """
    x = math.log(2.0) + (0.5 * np.log(u) + gammaln(order + 1.0)) / order
    for _ in range(60):
        log_mass, ratio = bessel.log_lower(order, np.exp(x))
        step = (np.log(u) - log_mass) * ratio / (2.0 * order)
        x += step
        if np.abs(step).max(initial=0.0) < 1e-15:
            break
    return np.asarray(np.exp(x))


def modulus_phase(order: float, complement: Floats) -> tuple[Floats, Floats]:
    """N and δ at ϑ ∈ (0, π/2)."""
    c, cos = np.sin(complement), np.cos(complement)
    s = order / c
    t = bessel.tail(order)
    y, powers = c * c, np.arange(bessel.TERMS)
    with np.errstate(over="ignore", invalid="ignore"):  # where s is below S₁ and the series is not used
        high_modulus = np.polynomial.polynomial.polyval(y, t.w) * cos
        high_phase = np.polynomial.polynomial.polyval(y, np.where(powers > 0, t.phase, 0.0)) / c
    low = s < t.start
    j, k = jv(order, s[low]), yv(order, s[low])
    turns = order * (cos[low] / c[low] - 0.5 * math.pi + complement[low]) - 0.25 * math.pi
    high_modulus[low] = 0.5 * math.pi * s[low] * cos[low] * (j * j + k * k)
    high_phase[low] = np.remainder(np.arctan2(k, j) - turns + 0.5 * math.pi, math.pi) - 0.5 * math.pi  # |δ| ≤ π/12
    return high_modulus, high_phase


@functools.lru_cache(maxsize=16)
def tables(order: float) -> Tables:
    """The tables of the order ν."""
    start = bessel.tail(order).start
    mass = float(bessel.lower(order, np.array([order]))[0])
    below = panels(lambda w: np.log(invert_below(order, mass * np.exp(-w))), np.linspace(0.0, LOG_DEPTH, 81), 11)
    count = math.ceil(256 * max(1.0, (order / 1000.0) ** (1.0 / 3.0)))
    angles = np.linspace(0.0, 0.5 * math.pi, count + 1)
    modulus = panels(lambda a: modulus_phase(order, a)[0], angles, 7)
    phase = panels(lambda a: modulus_phase(order, a)[1], angles, 7)
    edges = np.linspace(order, start, math.ceil(start - order) + 1)
    heights = bessel.lower(order, edges)
    middle = panels(lambda s: bessel.lower(order, s), edges, 14)
    return Tables(order, mass, below, modulus, phase, edges, heights, middle)


@jit
def on_panel(coefficients: Floats, x: float) -> float:
    """The value at x, measured in panels from the first one's left end."""
    i = min(int(x), coefficients.shape[0] - 1)
    z = 2.0 * (x - i) - 1.0
    total = 0.0
    for k in range(coefficients.shape[1] - 1, -1, -1):
        total = total * z + coefficients[i, k]
    return total


@jit
def draw(
    n: int, rng: np.random.Generator, order: float, mass: float, below: Floats, modulus: Floats, phase: Floats
) -> Floats:
    """s : (n,), one after another; `mass` is `Tables.mass_below`."""
    s = np.empty(n)
    half = 2.0**-54  # a uniform number is never 0: s stays finite
    for i in range(n):
        if rng.random() < mass:
            s[i] = math.exp(on_panel(below, -math.log(rng.random() + half) * (below.shape[0] / LOG_DEPTH)))
            continue
        while True:
            u = rng.random() + half
            complement = 0.5 * math.pi * u
            c = math.sin(complement)
            turns = order * (math.cos(complement) / c - 0.5 * math.pi + complement) - 0.25 * math.pi
            x = u * modulus.shape[0]
            cosine = math.cos(turns + on_panel(phase, x))
            if rng.random() < on_panel(modulus, x) * cosine * cosine:
                s[i] = order / c
                break
    return s


@jit
def invert_middle(u: Floats, edges: Floats, heights: Floats, middle: Floats) -> Floats:
    """s with CDF(s) = u for CDF(ν) ≤ u ≤ CDF(S₁): Newton on the panel, halved where it leaves the bracket."""
    s = np.empty(u.size)
    for i in range(u.size):
        k = min(max(np.searchsorted(heights, u[i]) - 1, 0), middle.shape[0] - 1)
        left, right, z = -1.0, 1.0, 0.0
        for _ in range(80):
            value = slope = 0.0
            for j in range(middle.shape[1] - 1, -1, -1):
                slope = slope * z + value
                value = value * z + middle[k, j]
            if value < u[i]:
                left = z
            else:
                right = z
            ahead = z + (u[i] - value) / slope if slope > 0.0 else right
            ahead = ahead if left < ahead < right else 0.5 * (left + right)
            if abs(ahead - z) < 1e-15:
                break
            z = ahead
        s[i] = edges[k] + 0.5 * (z + 1.0) * (edges[k + 1] - edges[k])
    return s


@jit
def invert_tail(q: Floats, order: float, start: float, w: Floats, v: Floats, f: Floats, g: Floats) -> Floats:
    """s with SF(s) = q for 0 < q ≤ SF(S₁), in the same way; the bracket is grown about 2ν/(πq)."""
    s = np.empty(q.size)
    for i in range(q.size):
        x = max(2.0 * order / (math.pi * q[i]), start)
        left, right, reach = start, x, 2.0
        while bessel.tail_at(order, right, w, v, f, g)[0] > q[i]:
            left = right
            right += reach
            reach *= 2.0
        x = max(x, left)
        for _ in range(200):
            survival, J = bessel.tail_at(order, x, w, v, f, g)
            if survival > q[i]:
                left = x
            else:
                right = x
            slope = 2.0 * order * J * J / x
            ahead = x + (survival - q[i]) / slope if slope > 0.0 else right
            ahead = ahead if left < ahead < right else 0.5 * (left + right)
            if abs(ahead - x) <= 2e-16 * x:
                break
            x = ahead
        s[i] = x
    return s


def sample(order: float, n: int, rng: np.random.Generator) -> Floats:
    """s : (n,), one after another."""
    t = tables(order)
    return draw(n, rng, order, t.mass_below, t.below, t.modulus, t.phase)


def quantile(order: float, u: Floats) -> Floats:
    """s with CDF(s) = u, 0 ≤ u < 1, u : (n,)."""
    t, tail = tables(order), bessel.tail(order)
    s = np.zeros(u.size)
    floor = t.mass_below * math.exp(-LOG_DEPTH)
    deep, low, high = (u > 0) & (u < floor), (u >= floor) & (u < t.mass_below), u > t.heights[-1]
    between = (u >= t.mass_below) & ~high
    s[deep] = invert_below(order, u[deep])
    s[low] = np.exp(at_panels(t.below, np.log(t.mass_below / u[low]) * (len(t.below) / LOG_DEPTH)))
    s[between] = invert_middle(u[between], t.edges, t.heights, t.middle)
    s[high] = invert_tail(1.0 - u[high], order, tail.start, tail.w, tail.v, tail.f, tail.g)
    return s


def at_panels(coefficients: Floats, x: Floats) -> Floats:
    """`on_panel` at each x."""
    i = np.minimum(x.astype(np.int64), len(coefficients) - 1)
    return np.asarray(np.polynomial.polynomial.polyval(2.0 * (x - i) - 1.0, coefficients[i].T, tensor=False))
