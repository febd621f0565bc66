"""Power laws y ~ C x^p, fitted by least squares of log ȳ on log x, ȳ the mean over repetitions.

The 95 % interval of p is a jackknife over repetitions where there are at least `FEW_REPETITIONS`, else the usual one
from the residuals: Student's t in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Floats = NDArray[np.float64]
FEW_REPETITIONS = 4
LEAST_POINTS = 3


@dataclass(frozen=True)
class PowerLaw:
    """y ≈ exp(offset) x^exponent.

    exponent: p.
    low, high: ends of its 95 % interval.
    offset: log C.
    """

    exponent: float
    low: float
    high: float
    offset: float

    def __call__(self, x: ArrayLike) -> Floats:
        return np.exp(self.offset + self.exponent * np.log(np.asarray(x, dtype=np.float64)))

    def within(self, expected: float, tolerance: float) -> bool:
        """Whether the whole interval lies within `tolerance` of the expected exponent."""
        return bool(max(abs(self.low - expected), abs(self.high - expected)) <= tolerance)

    def __str__(self) -> str:
        return f"{self.exponent:.3f} ± {(self.high - self.low) / 2:.3f}"


def fit_power(x: ArrayLike, y: ArrayLike) -> PowerLaw | None:
    """The power law of y : (k,), or (k, repetitions), at x : (k,).

    None where there are fewer than three points, or one that is not positive.
    """
    abscissa, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    values = values.reshape(len(abscissa), -1)
    means = values.mean(axis=1)
    if len(abscissa) < LEAST_POINTS or not np.all(np.isfinite(means) & (means > 0)):
        return None
    centred = np.log(abscissa) - np.log(abscissa).mean()
    weights = centred / np.sum(centred**2)
    exponent = float(weights @ np.log(means))
    offset = float(np.mean(np.log(means)) - exponent * np.log(abscissa).mean())
    repetitions = values.shape[1]
    if repetitions >= FEW_REPETITIONS:
        others = (values.sum(axis=1, keepdims=True) - values) / (repetitions - 1)
        left = weights @ np.log(others)
        error, free = np.sqrt((repetitions - 1) / repetitions * np.sum((left - left.mean()) ** 2)), repetitions - 1
    else:
        rest, free = np.log(means) - offset - exponent * np.log(abscissa), len(abscissa) - 2
        error = np.sqrt(np.sum(rest**2) / free / np.sum(centred**2))
    half = float(stats.t.ppf(0.975, free) * error)
    return PowerLaw(exponent, exponent - half, exponent + half, offset)


def fit_cautious_power(x: ArrayLike, y: Floats) -> PowerLaw | None:
    """The power law of y : (k, repetitions), its interval wide enough for the repetitions and for the fit.

    Repetitions alone would call a curve that bends the same way in each of them a precise power law.
    """
    over_seeds, of_fit = fit_power(x, y), fit_power(x, y.mean(axis=1))
    if over_seeds is None or of_fit is None:
        return None
    half = max(over_seeds.high - over_seeds.low, of_fit.high - of_fit.low) / 2
    return replace(over_seeds, low=over_seeds.exponent - half, high=over_seeds.exponent + half)


def fit_weighted_power(x: ArrayLike, y: Floats, error: Floats, clear: float) -> tuple[float, float]:
    """Exponent and its standard error by weighted least squares of the logarithms; NaN from fewer than three values.

    error: standard errors of y.
    clear: standard errors; a value below as many of its own has no logarithm worth fitting and is left out.
    """
    used = y > clear * error
    if np.count_nonzero(used) < LEAST_POINTS:
        return float("nan"), float("nan")
    log_x, log_y, weight = np.log(np.asarray(x)[used]), np.log(y[used]), (y[used] / error[used]) ** 2
    centred = log_x - np.average(log_x, weights=weight)
    size = float(np.sum(weight * centred**2))
    return float(np.sum(weight * centred * log_y) / size), size**-0.5


def slope_through_origin(x: Floats, y: Floats) -> float:
    """The slope of a straight line through 0 and near (x, y), by least squares."""
    return float(x @ y / (x @ x))


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """The slope of a straight line through (x, y), by least squares."""
    return float(np.polyfit(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), 1)[0])
