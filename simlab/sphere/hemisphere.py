"""Quadrature in the angle over half a sphere: E f(cos θ) = c_d ∫_0^π f(cos θ) sin^{d−2}θ dθ. MATH §4.

c_d = Γ(d/2)/(√π Γ((d−1)/2)). The halves are folded, f(u) ± f(−u), so θ runs over (0, π/2) with Gauss–Legendre nodes in
x, θ = (π/2) x^m. m = `grading` makes functions of θ^{1/m} near θ = 0 and θ = π analytic in x.
"""

from __future__ import annotations

import functools

from flint import arb, ctx


@functools.lru_cache(maxsize=8)
def _legendre_half(n: int, bits: int) -> tuple[tuple[arb, arb], ...]:
    """Roots z ≥ 0 of the n-th Legendre polynomial on [−1, 1], from 1 downwards, with their weights."""
    with ctx.workprec(bits):
        return tuple(arb.legendre_p_root(n, i, True) for i in range((n + 1) // 2))


def unit_interval(n: int, bits: int) -> list[tuple[arb, arb]]:
    """Gauss–Legendre nodes x and weights on (0, 1); they sum to 1."""
    half = _legendre_half(n, bits)
    with ctx.workprec(bits):
        upper = [((1 + z) / 2, w / 2) for z, w in half]
        # n odd has the node z = 0 once.
        lower = [((1 - z) / 2, w / 2) for z, w in half[: n // 2]]
    return upper + lower


def hemisphere(n: int, bits: int, grading: int = 1) -> tuple[list[arb], list[arb]]:
    """Angles θ in (0, π/2) and weights of ∫_0^{π/2} … dθ, without the density."""
    with ctx.workprec(bits):
        half_pi = arb.pi() / 2
        nodes = unit_interval(n, bits)
        angles = [half_pi * x**grading for x, _ in nodes]
        weights = [half_pi * grading * x ** (grading - 1) * w for x, w in nodes]
    return angles, weights


def density_constant(dim: int) -> arb:
    """c_d = Γ(d/2)/(√π Γ((d−1)/2)) at Arb's current precision; 1/π for d = 2."""
    return (arb(dim) / 2).gamma() / (arb.pi().sqrt() * (arb(dim - 1) / 2).gamma())
