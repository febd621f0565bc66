"""Means over repetitions, their standard errors and ranges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MANY_SEEDS = 10
"""From this number on the range of seeds is that of the middle 80 % of them."""


def centre(values: Floats, log: bool, axis: int = -1) -> Floats:
    """The mean along an axis, with `log` the geometric one; NaN where a value is missing or has no logarithm."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = np.exp(np.log(values).mean(axis=axis)) if log else values.mean(axis=axis)
    return np.where(np.isfinite(found) & ((found > 0) | (not log)), found, np.nan)


def standard_error(values: Floats, axis: int = -1) -> Floats:
    """s/√n of the mean along an axis of n values, s their standard deviation (n − 1 in its denominator)."""
    return np.asarray(values.std(axis=axis, ddof=1) / values.shape[axis] ** 0.5)


def seed_range(values: Floats) -> tuple[Floats, Floats]:
    """The least and the largest of values : (places, seeds) at each place; NaN where they are not finite.

    Of `MANY_SEEDS` or more the ends of the middle 80 %: a range grows with the number of seeds.
    """
    shares = (0.1, 0.9) if values.shape[1] >= MANY_SEEDS else (0.0, 1.0)
    with np.errstate(invalid="ignore"):
        ends = np.quantile(values, shares, axis=1)
    low, high = np.where(np.isfinite(ends), ends, np.nan)
    return low, high
