"""Power laws y ~ C x^p from a sweep: their fit, and points with the fitted and a reference line on log axes.

The fit is least squares of log ȳ on log x, ȳ the mean over repetitions. The 95 % interval of p is a jackknife over
repetitions where there are at least `FEW`, else the usual one from the residuals: Student's t in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from simlab.figures.seeds import THIN, Seeds, band
from simlab.figures.style import GREY
from simlab.record.reader import Results
from simlab.record.schema import RECORD

Floats = NDArray[np.float64]
FEW = 4


@dataclass(frozen=True)
class Power:
    """y ≈ exp(offset) x^exponent, and the 95 % interval of the exponent."""

    exponent: float
    low: float
    high: float
    offset: float

    def __call__(self, x: ArrayLike) -> Floats:
        return np.exp(self.offset + self.exponent * np.log(np.asarray(x, dtype=np.float64)))

    def within(self, expected: float, tolerance: float) -> bool:
        """The whole interval lies within `tolerance` of the expected exponent."""
        return bool(max(abs(self.low - expected), abs(self.high - expected)) <= tolerance)

    def tex(self) -> str:
        """For legends, by mathtext."""
        return rf"${round(self.exponent, 2) + 0.0:.2f} \pm {(self.high - self.low) / 2:.2f}$"

    def __str__(self) -> str:
        return f"{self.exponent:.3f} ± {(self.high - self.low) / 2:.3f}"


def fit_power(x: ArrayLike, y: ArrayLike) -> Power | None:
    """Of y (k,), or (k, repetitions); None where there are fewer than three points, or one that is not positive."""
    abscissa, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    values = values.reshape(len(abscissa), -1)
    means = values.mean(axis=1)
    if len(abscissa) < 3 or not np.all(np.isfinite(means) & (means > 0)):
        return None
    centred = np.log(abscissa) - np.log(abscissa).mean()
    weights = centred / np.sum(centred**2)
    exponent = float(weights @ np.log(means))
    offset = float(np.mean(np.log(means)) - exponent * np.log(abscissa).mean())
    repetitions = values.shape[1]
    if repetitions >= FEW:
        others = (values.sum(axis=1, keepdims=True) - values) / (repetitions - 1)
        left = weights @ np.log(others)
        error, free = np.sqrt((repetitions - 1) / repetitions * np.sum((left - left.mean()) ** 2)), repetitions - 1
    else:
        rest, free = np.log(means) - offset - exponent * np.log(abscissa), len(abscissa) - 2
        error = np.sqrt(np.sum(rest**2) / free / np.sum(centred**2))
    half = float(stats.t.ppf(0.975, free) * error)
    return Power(exponent, exponent - half, exponent + half, offset)


def reduced(results: Results, name: str, at: Mapping[str, Any], of: Literal["end", "largest"] = "largest") -> Floats:
    """What is left of a recorded name at these coordinates, of each trajectory its last or its largest number."""
    values = np.asarray(results.select(name, at), dtype=np.float64)
    if RECORD not in results.dims[name]:
        return values
    if not values.shape[-1]:  # every point failed
        return np.full(values.shape[:-1], np.nan)
    recorded = np.asarray(results.select("length", at))[..., np.newaxis] - 1
    if of == "end":
        return np.asarray(np.take_along_axis(values, recorded, axis=-1)[..., 0])
    # A NaN that was recorded stays one, so does a point without records; padding behind a trajectory does not count.
    counts = (np.arange(values.shape[-1]) <= recorded) | (recorded < 0)
    return np.asarray(np.where(counts, values, -np.inf).max(axis=-1))


def power_line(
    axis: Axes,
    x: ArrayLike,
    y: ArrayLike,
    colour: Any,
    label: str,
    mark: str = "o",
    style: str = "-",
    *,
    fit: bool = True,
    seeds: Seeds = "band",
) -> None:
    """Means as points, repetitions as a band or a thin line each, and the fit as a line, its exponent in the legend."""
    abscissa, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    values = np.where(values > 0, values, np.nan).reshape(len(abscissa), -1)
    power = fit_power(abscissa, values) if fit else None
    text = ": ".join(filter(None, [label, power.tex() if power else ""]))
    if seeds == "band":
        band(axis, abscissa, values, colour)
    elif values.shape[1] > 1:
        axis.plot(abscissa, values, style, lw=THIN, color=colour)
    axis.plot(abscissa, values.mean(axis=1), mark + ("" if fit else style), ms=4.5, lw=1.3, color=colour, label=text)
    if power is not None:
        axis.plot(abscissa, power(abscissa), style, lw=1.3, color=colour)
    axis.set(xscale="log", yscale="log")


def reference_line(axis: Axes, x: ArrayLike, start: float, exponent: float) -> None:
    """A dotted line of this exponent that begins at `start`, to compare with."""
    abscissa = np.asarray(x, dtype=np.float64)
    span = np.array([abscissa.min(), abscissa.max()])
    text = f"exponent ${exponent:g}$"
    axis.plot(span, start * (span / span[0]) ** exponent, ":", lw=1.4, color=GREY, label=text)


def legend_below(axis: Axes, title: str) -> None:
    """A legend in the lower left, below all points: the axis grows downwards by what the entries need."""
    entries = len(axis.get_legend_handles_labels()[0]) + bool(title)
    if not entries:
        return
    low, high = axis.get_ylim()
    share = min(0.6, 0.07 * entries + 0.03)  # of the axis' height
    more = share / (1 - share)
    axis.set_ylim(low * (low / high) ** more if axis.get_yscale() == "log" else low - more * (high - low), high)
    axis.legend(frameon=False, fontsize=8, loc="lower left", title=title, title_fontsize=8)
