"""The dual of an activation together with its variances."""

from __future__ import annotations

from simlab.activations import Activation


def dual_of(activation: Activation, q: float, p: float, t: float, s: float) -> tuple[float, float, float, float, float]:
    """(A, B, τ, σ, Ḟ) at the variances q, p and the correlation 1 − t = s − 1."""
    _, _, variance, dual = activation.compiled()
    a = activation.numbers()
    A, B = variance(q, a), variance(p, a)
    return (A, B, *dual(q, p, A, B, t, s, a))
