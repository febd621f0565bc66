"""The signatures of an activation's compiled functions, so that one recursion serves all of them."""

from __future__ import annotations

from numba import float64, types

PHI = float64(float64, float64[::1])
"""φ(z, a), φ'(z, a)"""

VARIANCE = float64(float64, float64[::1])
"""F(q, q, u = 1)"""

DUAL = types.UniTuple(float64, 3)(float64, float64, float64, float64, float64, float64, float64[::1])
"""(q, p, A, B, t, s, a) -> (τ, σ, Ḟ)"""
