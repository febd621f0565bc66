"""Duals in any precision, by the Hermite series of an activation whose r-th derivative has a known Fourier transform.

F(q, q, u) = Σ q^n m_n² u^n/n! with m_n = E φ^{(n)}(√q x), and Ḟ = ∂F/∂(qu) = Σ n q^{n−1} m_n² u^{n−1}/n!. Where
∫ φ^{(r)}(z) e^{−ikz} dz = G(k) = πk/sinh(πk/P) (tanh: r = 1, P = 2; softplus: r = 2, P = 1),

m_n = ± (1/2π) ∫ k^{n−r} G(k) e^{−qk²/2} dk for n ≥ r, n − r even, else 0: integrals of one sign, so no digit is lost,
and m_0 = φ(0) + (1/2π) ∫ G(k) (1 − e^{−qk²/2})/k² dk for r = 2.

The trapezoid rule of step H errs by exp(qy² − 2πy/H) of m_n for any y < P, the pole of G; terms fall like
exp(−2(π/P)√(n/q)), so their number grows like q·digits². The tail is part of Arb's radius, the error of the trapezoid
rule is not.
"""

from __future__ import annotations

import functools
import math

from flint import arb, arb_poly, ctx

from simlab.core.errors import SimlabError

MOST_TERMS = 20_000


def _peak(e: float, q: float, beta: float) -> tuple[float, float]:
    """Place and logarithm of the maximum over k of k^e e^{−qk²/2 − βk}"""
    k = 2.0 * e / (beta + math.sqrt(beta * beta + 4.0 * q * e))
    return k, e * math.log(k) - 0.5 * q * k * k - beta * k


def _terms(q: float, r: int, beta: float, digits: float) -> int:
    """How many terms of the series until they are e^{−digits} of the first."""

    def size(n: int) -> float:
        return n * math.log(q) - math.lgamma(n + 1.0) + 2.0 * _peak(n - r + 1.0, q, beta)[1]

    n = r + 4
    while size(n) > size(r) - digits - 3.0 * math.log(n):
        n += max(2, n // 16)
        if n > MOST_TERMS:
            raise SimlabError(
                f"variance q = {q:.4g}: the Hermite series needs more than {MOST_TERMS} terms at {ctx.prec} bits; "
                "use a smaller variance, fewer digits, or float64"
            )
    return n


def _reach(n: int, q: float, r: int, beta: float, digits: float) -> float:
    """Where the integrand of m_n has fallen to e^{−digits} of its maximum."""
    e = n - r + 1.0
    k, top = _peak(e, q, beta)
    step = 1.0
    while e * math.log(k) - 0.5 * q * k * k - beta * k > top - digits:
        k += step
        step *= 1.5
    return k


@functools.lru_cache(maxsize=64)
def _series(
    r: int, pole: int, start: tuple[str, ...], q_key: tuple[int, int, int, int], precision: int
) -> tuple[arb_poly, arb_poly]:
    """The polynomials F and Ḟ of u; `precision` is the context's, part of the key."""
    mid, mid_exp, rad, rad_exp = q_key
    q = arb(mid) * arb(2) ** mid_exp + arb(0, arb(rad) * arb(2) ** rad_exp)
    pi, size = arb.pi(), float(q.mid())
    beta, digits = math.pi / pole, precision * math.log(2.0) + 20.0
    n_terms = _terms(size, r, beta, digits) if size > 1e-300 else r + 4
    y = min(0.9 * pole, math.sqrt(digits / size) if size > 0.0 else math.inf)
    H = arb(2.0 * math.pi * y / (digits + size * y * y))
    nodes = [H * j for j in range(1, int(_reach(n_terms, size, r, beta, digits) / float(H)) + 2)]
    squares = [k * k for k in nodes]
    G = [pi * k / (pi * k / pole).sinh() for k in nodes]
    scale = H / (2 * pi)

    moments = [arb(0)] * (n_terms + 1)
    moments[:r] = [arb(2).log() if text == "log 2" else arb(text) for text in start]
    if r == 2:
        falls = (-g * (-q * k / 2).expm1() / k for g, k in zip(G, squares, strict=True))
        moments[0] += scale * (pole * q / 2 + 2 * sum(falls, arb(0)))
    weights = [2 * g * (-q * k / 2).exp() for g, k in zip(G, squares, strict=True)]
    for n in range(r, n_terms + 1, 2):
        moments[n] = scale * (sum(weights, arb(0)) + (pole if n == r else 0))  # G(0) = P
        weights = [w * k for w, k in zip(weights, squares, strict=True)]

    F, slopes, factor = [moments[0] ** 2], [], arb(1)  # factor = q^{n−1}/(n−1)!
    for n in range(1, n_terms + 1):
        slopes.append(factor * moments[n] ** 2)
        factor = factor * q / n
        F.append(factor * moments[n] ** 2)
    # Terms like e^{−2b√n}, 2b√N > 20, leave less than N times the last one (N² with the factor n of Ḟ's).
    last = (n_terms - r) // 2 * 2 + r
    for series, at in ((F, last), (slopes, last - 1)):
        tail = n_terms**2 * series[at]
        if not tail <= abs(sum(series, arb(0))) * arb(2) ** (4 - precision):
            raise SimlabError(f"variance q = {size:.4g}: the Hermite series is not resolved at {precision} bits")
        series[at] += arb(0, tail.abs_upper())
    return arb_poly(F), arb_poly(slopes)


def series_dual(
    r: int, pole: int, start: tuple[str, ...], q: arb, us: list[arb], tangent: bool
) -> tuple[list[arb], list[arb]]:
    """F and Ḟ at the correlations `us`; `start` is φ(0), …, φ^{(r−1)}(0), "log 2" standing for itself."""
    mid, radius = q.mid().man_exp(), q.rad().man_exp()
    F, slopes = _series(r, pole, start, (*map(int, mid), *map(int, radius)), ctx.prec)
    return [F(u) for u in us], [slopes(u) for u in us] if tangent else []


def tangent_coefficient(i: int) -> arb:
    """t_i = 2(2^{i+1} − 1) ζ(i+1)/π^{i+1} for odd i, else 0: |c_i| of tanh z = Σ c_i z^i. Radius π/2."""
    return 2 * (arb(2) ** (i + 1) - 1) * arb(i + 1).zeta() / arb.pi() ** (i + 1) if i % 2 else arb(0)
