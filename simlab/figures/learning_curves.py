"""Measured test errors against the number of samples, with standard errors over seeds, and the theory as lines.

If the sweep has several axes besides the samples, each value of the first one has a panel. The legend gives the fitted
slopes of the measured errors. The dotted line has the rate that the smoothness of target and kernel predicts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.figures.curves import label, learning_curve, log_axes
from simlab.figures.figure import Figure
from simlab.figures.powers import legend_below
from simlab.figures.style import GREY, add_title, colours, panels
from simlab.record.reader import Results
from simlab.statistics.power_law import slope
from simlab.statistics.sweeps import mean_over_seeds, points_of

SAMPLES = "experiment.samples"


class LearningCurves(Figure):
    """Test errors against the number of samples, with the theory."""

    needs = ("test_error", "theory", "rate")
    title: str = Field("", description="above all panels")

    def draw(self, results: Results) -> Picture:
        if SAMPLES not in results:
            raise BadInput(f"figure: learning_curves draws against {SAMPLES}, which this run does not sweep")
        others = list(points_of(results, "test_error", ("seed", results.dims[SAMPLES][0])))
        first = next(iter(others[0]), None) if len(others[0]) > 1 else None
        values = list(dict.fromkeys(at[first] for at in others)) if first else [None]
        figure, axes = panels(len(values))
        for axis, value in zip(axes, values, strict=True):
            lines = [at for at in others if first is None or at[first] == value]
            for at, shade in zip(lines, colours(len(lines)), strict=True):
                text = label({k: v for k, v in at.items() if k != first}) or "measured"
                learning_curve(axis, results, at, shade, f"{text}: {_slope(results, at)}")
            _guide(axis, results, lines[0])
            log_axes(axis, results[SAMPLES])
            if first is not None:
                axis.set_title(label({first: value}), fontsize=10)
        for axis in axes:
            legend_below(axis, "bars: standard errors over seeds, lines: theory")
        return add_title(figure, self.title)


def _guide(axis: Axes, results: Results, at: dict[str, Any]) -> None:
    """n^{−rate} below the first curve, where a rate is predicted."""
    n, mean = results[SAMPLES].astype(np.float64), mean_over_seeds(results, "test_error", at)[0]
    rate = float(np.atleast_1d(mean_over_seeds(results, "rate", at)[0])[0])
    if np.isfinite(rate) and n.size > 1:
        text = rf"rate as $n \to \infty$: $n^{{{-rate:.2f}}}$"
        axis.plot(n, 0.6 * mean[-1] * (n / n[-1]) ** -rate, ":", color=GREY, lw=1.4, label=text)


def _slope(results: Results, at: dict[str, Any]) -> str:
    """The measured power of n, in words."""
    n, mean = results[SAMPLES].astype(np.float64), mean_over_seeds(results, "test_error", at)[0]
    power = slope(np.log(n), np.log(mean)) if n.size > 1 and np.all(mean > 0) else np.nan
    return f"$n^{{{power:.2f}}}$" if np.isfinite(power) else "no slope"
