"""The one signature of a network's loss gradient, so that descent loops compile once for all networks.

``gradient(theta, X, y, sizes, scale, out, scratch) -> loss`` writes ∇_θ L into `out` and returns
L = (1/2n) Σ_i (f(x_i) − y_i)², where the output of the network is multiplied by `scale`.
A compiled function passed as an argument of this declared type is cached; passed as itself it never is.
"""

from __future__ import annotations

from numba import float64, int64

GRADIENT = float64(float64[::1], float64[:, ::1], float64[::1], int64[::1], float64, float64[::1], float64[::1])
