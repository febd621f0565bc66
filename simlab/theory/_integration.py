"""Solutions of ẏ = rate(t, y) from time 0, at given instants: by DOP853, or by steps of a given length."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Floats = NDArray[np.float64]
Rate = Callable[[float, Floats], Floats]
"""(time, state) → its velocity."""


def adaptive(rate: Rate, first: Floats, instants: Floats, rtol: float, atol: float) -> Floats:
    """(T, …) by DOP853; NaN where it does not come to the end."""
    if instants[-1] == 0.0:
        return first[np.newaxis]
    with np.errstate(over="ignore", invalid="ignore"):  # a trial step that is not finite is made smaller
        done = solve_ivp(rate, (0.0, instants[-1]), first, "DOP853", t_eval=instants, rtol=rtol, atol=atol)
    return np.asarray(done.y.T) if done.status == 0 else np.full((1, first.size), np.nan)


def by_steps(rate: Rate, first: Floats, instants: Floats, step: float) -> Floats:
    """(T, …) by the classical method of order 4."""
    found, y, before = [], first, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for instant in instants.tolist():
            steps = math.ceil((instant - before) / step * (1.0 - 1e-12))
            h = (instant - before) / max(steps, 1)
            for _ in range(steps):
                k1 = rate(0.0, y)
                k2 = rate(0.0, y + h / 2 * k1)
                k3 = rate(0.0, y + h / 2 * k2)
                y = y + h / 6 * (k1 + 2 * (k2 + k3) + rate(0.0, y + h * k3))
            found.append(y)
            before = instant
    return np.array(found)
