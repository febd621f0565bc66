"""Rounding of the correlation after an activation, 1 − τ = σ − 1."""

from __future__ import annotations

from simlab.core.jit import jit


@jit
def unequal(q: float, p: float, G: float, norm: float) -> float:
    """1 − G/norm, the correlation lost at u = 1 to q ≠ p: G = F(q, p, u = 1), norm = √(AB).

    It is of order (1 − q/p)², so where q and p agree to 1e-9 it is less than the rounding of G/norm.
    """
    return 0.0 if abs(q - p) <= 1e-9 * q else max(0.0, 1.0 - G / norm)


@jit
def balanced(tau: float, sigma: float) -> tuple[float, float]:
    """τ and σ with the sum 2: the smaller is the more accurate, and the other follows from it."""
    return (tau, max(0.0, 2.0 - tau)) if tau <= sigma else (max(0.0, 2.0 - sigma), sigma)
