"""Learning curves and staircases on an axis, for the figures of these names and for claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MultipleLocator
from numpy.typing import NDArray

from simlab.figures.style import GREY, GUIDE, colours, tick_at
from simlab.figures.words import point_label
from simlab.record.reader import Results
from simlab.statistics.sweeps import Where, mean_over_seeds, setting

Floats = NDArray[np.float64]


def label(at: Mapping[str, Any]) -> str:
    """``depth 3, $d = 10$``: a point of the sweep, given as name → value of its axes."""
    return point_label(at.keys(), at.values())


def learning_curve(axis: Axes, results: Results, at: Where, colour: Any, text: str, mark: str = "o") -> None:
    """Test errors against the number of samples: measured ones with standard errors over seeds, the theory as a line.

    at: name → value of the axes that are fixed.
    text: label in the legend.
    mark: matplotlib's marker.
    """
    n = results["experiment.samples"]
    mean, spread = mean_over_seeds(results, "test_error", at)
    theory, _ = mean_over_seeds(results, "theory", at)
    axis.errorbar(n, mean, spread, fmt=mark, ms=4, capsize=2, lw=1, color=colour, label=text)
    axis.plot(n, theory, "-", lw=1.1, color=colour)


def log_axes(axis: Axes, n: NDArray[Any]) -> None:
    """Names, logarithmic scales and ticks of a panel of learning curves. n: numbers of samples, (k,)."""
    axis.set(xscale="log", yscale="log", xlabel="samples $n$", ylabel="test error")
    axis.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    for set_formatter in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
        set_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    tick_at(axis, n)


def stairs(axis: Axes, results: Results, at: Where, what: str) -> None:
    """The share of every degree that is not learned against log(size)/log d. Dashed: the prediction.

    Points of different dimensions have different marks. Marks of low degrees are larger and hollow, so that they can be
    seen around those of a higher degree at the same place.

    at: name → value of the axes that are fixed.
    what: symbol or word for the size.
    """
    degrees = results["degree"].tolist()
    x = mean_over_seeds(results, "exponent", at)[0]
    share, spread = mean_over_seeds(results, "unlearned", at)
    predicted = mean_over_seeds(results, "predicted", at)[0]
    dims = results["experiment.dim"] if "experiment.dim" in results and x.ndim else np.zeros(x.size)
    dims = dims if dims.size == x.size else np.zeros(x.size)
    theory = False
    for value, mark in zip(np.unique(dims), "osD^v", strict=False):
        some = np.flatnonzero(dims == value)
        some = some[np.argsort(x[some])]
        for i, (degree, shade) in enumerate(zip(degrees, colours(len(degrees)), strict=True)):
            text = f"degree {degree}" + (f", $d = {int(value)}$" if np.unique(dims).size > 1 else "")
            below = 1 - i / max(1, len(degrees) - 1)
            look: Where = {"ms": 4 + 5 * below, "mfc": "none" if below else shade, "mew": 1.3, "color": shade}
            axis.errorbar(x[some], share[some, i], spread[some, i], fmt=mark, capsize=2, label=text, **look)
            known = bool(np.isfinite(predicted[some, i]).all())
            theory |= known
            line, style = (predicted, "--") if known else (share, "-")
            axis.plot(x[some], line[some, i], style, lw=1 + below, color=shade)
    if theory:
        axis.plot([], [], "--", lw=1, color=GREY, label="dashed: theory")
    for step in range(int(np.floor(x.min())), int(np.ceil(x.max())) + 1):
        axis.axvline(step, color=GUIDE, lw=0.7, zorder=0)
    axis.xaxis.set_major_locator(MultipleLocator(0.5))
    dim = at.get("experiment.dim", setting(results, "experiment", "dim"))
    what = what if len(what) == 1 else rf"\mathrm{{{what}}}"
    xlabel = rf"$\log {what} / \log d$" + (f",  $d = {dim}$" if dim is not None else "")
    axis.set(xlabel=xlabel, ylabel="share not learned", ylim=(-0.05, 1.25))
