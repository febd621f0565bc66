"""Power laws on log axes: points, the fitted line with its exponent in the legend, a reference line."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from simlab.figures.seeds import THIN_POINTS, Seeds, band
from simlab.figures.style import GREY
from simlab.statistics.power_law import PowerLaw, fit_power

Floats = NDArray[np.float64]


def exponent_text(power: PowerLaw) -> str:
    """``$-0.51 \\pm 0.02$``, for legends."""
    return rf"${round(power.exponent, 2) + 0.0:.2f} \pm {(power.high - power.low) / 2:.2f}$"


def power_line(
    axis: Axes,
    x: ArrayLike,
    y: ArrayLike,
    colour: Any,
    label: str,
    style: str = "o-",
    *,
    fit: bool = True,
    seeds: Seeds = "band",
) -> None:
    """Means over repetitions as points, their range as a band, and the fit as a line, its exponent in the legend.

    x: abscissas, (k,).
    y: values, (k,), or (k, repetitions).
    label: what the entry in the legend begins with.
    style: marker and line, such as "o--".
    fit: whether a power law is fitted; otherwise the line joins the points.
    seeds: "band" for their range, "lines" for one thin line per repetition.
    """
    mark, line = style[:1], style[1:]
    abscissa, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    values = np.where(values > 0, values, np.nan).reshape(len(abscissa), -1)
    power = fit_power(abscissa, values) if fit else None
    text = ": ".join(filter(None, [label, exponent_text(power) if power else ""]))
    if seeds == "band":
        band(axis, abscissa, values, colour)
    elif values.shape[1] > 1:
        axis.plot(abscissa, values, line, lw=THIN_POINTS, color=colour)
    axis.plot(abscissa, values.mean(axis=1), mark + ("" if fit else line), ms=4.5, lw=1.3, color=colour, label=text)
    if power is not None:
        axis.plot(abscissa, power(abscissa), line, lw=1.3, color=colour)
    axis.set(xscale="log", yscale="log")


def reference_line(axis: Axes, x: ArrayLike, start: float, exponent: float) -> None:
    """A dotted line start·(x/x_min)^exponent, to compare with. x: abscissas that it spans."""
    abscissa = np.asarray(x, dtype=np.float64)
    span = np.array([abscissa.min(), abscissa.max()])
    text = f"exponent ${exponent:g}$"
    axis.plot(span, start * (span / span[0]) ** exponent, ":", lw=1.4, color=GREY, label=text)


def legend_below(axis: Axes, title: str) -> None:
    """A legend in the lower left, below all points: the axis is extended downwards by the height of the entries."""
    entries = len(axis.get_legend_handles_labels()[0]) + bool(title)
    if not entries:
        return
    low, high = axis.get_ylim()
    share = min(0.6, 0.07 * entries + 0.03)  # of the axis' height
    more = share / (1 - share)
    axis.set_ylim(low * (low / high) ** more if axis.get_yscale() == "log" else low - more * (high - low), high)
    axis.legend(frameon=False, fontsize=8, loc="lower left", title=title, title_fontsize=8)
