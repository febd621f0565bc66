"""J_ν, and the law with density 2ν J_ν(s)²/s on s > 0, from s = 0 to s = 10^15. MATH §8.

Below S₁ = max(2ν, 25): CDF(s) = J_ν² + 2 Σ_{k≥1} J_{ν+k}², a sum of squares, hence right to rounding however small;
the orders above ν by downward recurrence (Miller), which starts where J is nothing and ends on scipy's J_ν, J_{ν+1}.

From S₁ on, J = M cos ψ (DLMF 10.18). With c = ν/s and W = (π/2) s M² the phase has ψ_s = 1/W, and

    W = Σ_k w_k c^{2k},   w_k = w_{k−1} (2k−1)/(2k) (1 − (k−½)²/ν²),   ψ = s − (ν/2+¼)π − ν Σ_k v_k c^{2k−1}/(2k−1),

v the series 1/W. The law's integral is a derivative by the order, CDF = s (J ∂_ν J_s − J_s ∂_ν J) (Lommel), which in M
and ψ is the survival without cancellation: with f = ν ∂_ν of the coefficients of 1/W and g those of (ν ∂_ν W)/W

    SF = (2/π) { −Σ_k f_k c^{2k−1}/(2k−1) + W [ sin 2ψ Σ_k f_k c^{2k}/(2ν) + cos²ψ Σ_k k g_k c^{2k+1}/ν² ] } ≈ 2ν/(πs).

Thirty terms: c ≤ ½ leaves 4^{−30}; for small ν the series only diverges beyond its smallest term, e^{−2s}.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, jv

from simlab.core.jit import jit

Floats = NDArray[np.float64]
TERMS = 31


@dataclass(frozen=True, eq=False)
class Tail:
    """The coefficients above, by k = 0 … 30.

    order: ν.
    start: S₁.
    w, v, f, g: as above.
    phase: those of δ = ψ − ν(tan θ − θ) + π/4, where cos θ = c.
    """

    order: float
    start: float
    w: Floats
    v: Floats
    f: Floats
    g: Floats
    phase: Floats


@functools.lru_cache(maxsize=64)
def tail(order: float) -> Tail:
    """The coefficients of the order ν."""
    w, dw, root = np.ones(TERMS), np.zeros(TERMS), np.ones(TERMS)
    for k in range(1, TERMS):
        half = (2 * k - 1) / (2 * k)
        shrink = 1.0 - ((k - 0.5) / order) ** 2
        w[k] = half * w[k - 1] * shrink
        dw[k] = half * (dw[k - 1] * shrink + 2.0 * w[k - 1])
        root[k] = root[k - 1] * (2 * k - 3) / (2 * k)  # of √(1−c²)
    v = np.ones(TERMS)
    for k in range(1, TERMS):
        v[k] = -w[1 : k + 1] @ v[k - 1 :: -1][:k]
    f = -np.convolve(np.convolve(v, v)[:TERMS], dw)[:TERMS]
    g = np.convolve(v, dw)[:TERMS]
    odd = 2.0 * np.arange(TERMS) - 1.0
    return Tail(order, max(2.0 * order, 25.0), w, v, f, g, -order * (v - root) / odd)


@jit
def sums_of_squares(order: float, s: Floats) -> tuple[Floats, Floats]:
    """CDF and J_ν² at each s > 0, both divided by J_ν² + J_{ν+1}² (never both near a zero)."""
    sums, first = np.empty(s.size), np.empty(s.size)
    for i in range(s.size):
        # Airy's decay above the turning point leaves 1e-20 after 8.4 s^{1/3} orders; the start takes as many to settle.
        steps = int(max(0.0, s[i] - order) + 17.0 * s[i] ** (1.0 / 3.0)) + 30
        above, here, total = 0.0, 1e-140, 0.0
        for k in range(steps, 0, -1):
            total += here * here
            above, here = here, 2.0 * (order + k) / s[i] * here - above
            if abs(here) > 1e140:
                above, here, total = above * 1e-280, here * 1e-280, (total * 1e-280) * 1e-280
        size = here * here + above * above
        first[i] = here * here / size
        sums[i] = first[i] + 2.0 * total / size
    return sums, first


def lower(order: float, s: Floats) -> Floats:
    """CDF for 0 ≤ s of any shape, to a relative error; the number of terms is about s."""
    flat = np.maximum(s.ravel(), 1e-300)
    size = jv(order, flat) ** 2 + jv(order + 1.0, flat) ** 2
    mass = np.zeros(flat.size)
    safe = size > 0.0  # where the square of J_ν underflows so does the CDF
    mass[safe] = size[safe] * sums_of_squares(order, flat[safe])[0]
    return mass.reshape(s.shape)


def log_lower(order: float, s: Floats) -> tuple[Floats, Floats]:
    """log CDF and CDF/J_ν² at 0 < s ≤ ν, s : (n,), however small."""
    sums, first = sums_of_squares(order, s)
    return 2.0 * log_bessel(order, s)[0] + np.log(sums / first), sums / first


@jit
def phase_rest(order: float, s: float, v: Floats) -> float:
    """ψ − s + (ν/2+¼)π"""
    c = order / s
    y = c * c
    total = 0.0
    for k in range(v.size - 1, 0, -1):
        total = total * y + v[k] / (2 * k - 1)
    return -order * c * total


@jit
def polynomial(coefficients: Floats, x: float) -> float:
    """Σ_k coefficients[k] x^k"""
    total = 0.0
    for k in range(coefficients.size - 1, -1, -1):
        total = total * x + coefficients[k]
    return total


@jit
def tail_at(order: float, s: float, w: Floats, v: Floats, f: Floats, g: Floats) -> tuple[float, float]:
    """SF and J_ν at s ≥ S₁."""
    c = order / s
    y = c * c
    modulus = polynomial(w, y)
    smooth = even = rest = 0.0
    for k in range(f.size - 1, 0, -1):
        smooth = smooth * y + f[k] / (2 * k - 1)
        even = even * y + f[k]
        rest = rest * y + k * g[k]
    # cos(s + χ) by the sum formula: the library reduces s exactly, s − νπ/2 would be rounded first.
    shift = phase_rest(order, s, v) - (0.5 * (order % 4.0) + 0.25) * math.pi
    cosine = math.cos(s) * math.cos(shift) - math.sin(s) * math.sin(shift)
    sine = math.sin(s) * math.cos(shift) + math.cos(s) * math.sin(shift)
    waves = sine * cosine * even * y / order + cosine * cosine * rest * y * c / (order * order)
    return 2.0 / math.pi * (modulus * waves - c * smooth), math.sqrt(2.0 * modulus / (math.pi * s)) * cosine


@jit
def tails(order: float, s: Floats, w: Floats, v: Floats, f: Floats, g: Floats) -> tuple[Floats, Floats]:
    """`tail_at` of each s."""
    survival, bessel = np.empty(s.size), np.empty(s.size)
    for i in range(s.size):
        survival[i], bessel[i] = tail_at(order, s[i], w, v, f, g)
    return survival, bessel


def upper(order: float, s: Floats) -> tuple[Floats, Floats]:
    """SF and J_ν at each s ≥ S₁."""
    t = tail(order)
    return tails(order, s, t.w, t.v, t.f, t.g)


def first_kind(order: float, s: Floats) -> Floats:
    """J_ν(s), the Bessel function of the first kind, at s ≥ 0 of any shape."""
    flat = s.ravel()
    high = flat >= tail(order).start
    values = np.asarray(jv(order, np.where(high, 0.0, flat)))
    values[high] = upper(order, flat[high])[1]
    return values.reshape(s.shape)


def hat(order: float, s: Floats) -> Floats:
    """Γ(ν+1) (2/s)^ν J_ν(s), s ≥ 0: 1 at 0."""
    flat = s.ravel()
    values = np.empty(flat.size)
    # Terms of the power series below 1 in size; beyond, logarithms: (2/s)^ν overflows before J_ν makes up for it.
    near = flat * flat < 4.0 * (order + 1.0)
    x = -0.25 * flat[near] ** 2
    term, total = np.ones(x.size), np.ones(x.size)
    for k in range(1, 30):
        term = term * x / (k * (order + k))
        total = total + term
    values[near] = total
    far = flat[~near]
    log, sign = log_bessel(order, far)
    values[~near] = sign * np.exp(gammaln(order + 1.0) + order * np.log(2.0 / far) + log)
    return values.reshape(s.shape)


@functools.cache
def debye() -> list[np.polynomial.Polynomial]:
    """u_0 … u_8 of DLMF 10.19.3: u_{k+1} = ½ t²(1−t²) u_k′ + ⅛ ∫_0^t (1−5τ²) u_k dτ."""
    t = np.polynomial.Polynomial([0.0, 1.0])
    found = [np.polynomial.Polynomial([1.0])]
    for _ in range(8):
        u = found[-1]
        found.append(0.5 * t**2 * (1 - t**2) * u.deriv() + 0.125 * ((1 - 5 * t**2) * u).integ())
    return found


def log_bessel(order: float, s: Floats) -> tuple[Floats, Floats]:
    """log |J_ν(s)| and the sign of J_ν(s), s > 0."""
    values = first_kind(order, s)
    sign = np.sign(values)
    with np.errstate(divide="ignore"):
        log = np.log(np.abs(values))
    # For ν > 300 J_ν leaves the range of float64 while φ does not; there Debye's expansion is right to 1e-15.
    if order <= 300.0:
        return log, sign
    deep = s < order * math.sqrt(1.0 - (0.01 * order) ** (-2.0 / 3.0))
    a = np.arccosh(order / s[deep])
    slope = np.tanh(a)
    series = sum(u(1.0 / slope) / order**k for k, u in enumerate(debye()))
    log[deep] = order * (slope - a) - 0.5 * np.log(2.0 * math.pi * order * slope) + np.log(series)
    sign[deep] = 1.0
    return log, sign
