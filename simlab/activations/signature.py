"""The types of an activation's compiled functions, so that one recursion serves all of them.

In capitals for Numba, in small letters for Python. ``a`` is the activation's `numbers()`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import float64, types
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PHI = float64(float64, float64[::1])
Phi = Callable[[float, Floats], float]
"""φ(z, a), φ'(z, a)"""

VARIANCE = float64(float64, float64[::1])
Variance = Callable[[float, Floats], float]
"""F(q, q, u = 1), as variance(q, a)"""

DUAL = types.UniTuple(float64, 3)(float64, float64, float64, float64, float64, float64, float64[::1])
Dual = Callable[[float, float, float, float, float, float, Floats], tuple[float, float, float]]
"""(q, p, A, B, t, s, a) -> (τ, σ, Ḟ)"""
