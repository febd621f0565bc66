"""The mean of a ReLU over the directions: E σ(v̄·x) = C_Γ ‖x‖/√d for v̄ uniform on the unit sphere. MATH §8.

    C_Γ = √d Γ(d/2) / (2√π Γ((d+1)/2)) → 1/√(2π)

So a first layer of spherically symmetric neurons, E ‖v‖σ(v·x), is α‖x‖ with α = (C_Γ/√d) E‖v‖².
"""

from __future__ import annotations

import math

from scipy.special import poch

from simlab.core import checks


def mean_relu(dim: int) -> float:
    """C_Γ/√d = Γ(d/2)/(2√π Γ((d+1)/2))"""
    dim = checks.dimension(dim)
    return float(0.5 / (math.sqrt(math.pi) * poch(dim / 2, 0.5)))


def c_gamma(dim: int) -> float:
    """C_Γ"""
    return mean_relu(dim) * math.sqrt(dim)
