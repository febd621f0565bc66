"""A compiled function of one output and its label over arrays: the loop behind `value`, `slope` and their like.

The function comes in as an argument of declared type, so that the loop is compiled once, and cached, for all losses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, types, void
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.jit import jit
from simlab.losses.tiles import Scalar

Floats = NDArray[np.float64]
SCALAR = float64(float64, float64, float64[::1])


@jit(signatures=[void(types.FunctionType(SCALAR), float64[::1], float64[::1], float64[::1], float64[::1])])
def _each(function: Scalar, a: Floats, f: Floats, y: Floats, out: Floats) -> None:
    for i in range(f.size):
        out[i] = function(f[i], y[i], a)


def pair(f: ArrayLike, y: ArrayLike, name: str = "f") -> tuple[Floats, Floats]:
    """f and y in float64, C-contiguous; BadInput unless both are of the same shape (n, c).

    name: what the error calls f.
    """
    first: Any = checks.array(f, name, ndim=2, finite=False, must="(n, c), one row per sample")
    second: Any = checks.array(y, "y", shape=first.shape, finite=False, must=f"{first.shape}, as {name} is")
    return np.ascontiguousarray(first), np.ascontiguousarray(second)


def through(function: Scalar, a: Floats, f: ArrayLike, y: ArrayLike, name: str = "f") -> Floats:
    """function(f, y, a) of every entry, (n, c); `name` as in `pair`."""
    first, second = pair(f, y, name)
    out = np.empty_like(first)
    _each(function, a, first.reshape(-1), second.reshape(-1), out.reshape(-1))
    return out
