"""Accuracies of every point of a sweep: on the test against the last axis, and on validation against λ. [S0]

Bars are standard errors over test images. Lines are shifted a little along the axis: their bars must not hide each
other. On an axis of words or whole tables, each has its own place. Points that failed are left out.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray
from pydantic import Field

from simlab.figures.figure import Figure
from simlab.figures.style import add_title, colours, panels, tick_at
from simlab.figures.words import point_label, readable
from simlab.record.reader import Results

WIDE_FACTOR = 20.0
"""A numeric axis that spans more than this factor is logarithmic."""
MANY_ENTRIES = 16
"""A legend with more entries has two columns."""
LEGEND_INCHES = 1.9
"""Width of one column of the legend."""


class Accuracies(Figure):
    """Test accuracies against the last axis of the sweep, and validation accuracies against the ridge λ."""

    needs = ("test_accuracy", "test_spread", "validation_accuracy_by_ridge")
    title: str = Field("", description="above all panels")

    def draw(self, results: Results) -> Picture:
        figure, (left, right) = panels(2)
        dims = results.dims["test_accuracy"]
        groups, last = (dims[:-1], dims[-1:]) if dims else ((), ())
        lines = list(itertools.product(*(results[dim].tolist() for dim in groups)))
        across = results[last[0]] if last else np.zeros(1)
        named = across.dtype.kind not in "iuf"
        marks = zip(lines, itertools.cycle("os^Dv"), colours(len(lines)), strict=False)
        for place, (line, mark, own) in enumerate(marks):
            at = dict(zip(groups, line, strict=True))
            accuracy = np.atleast_1d(100 * results.select("test_accuracy", at))
            if not np.isfinite(accuracy).any():
                continue
            spread = np.atleast_1d(100 * results.select("test_spread", at))
            places = _apart(across, place - (len(lines) - 1) / 2, len(lines))
            style = mark if named else f"{mark}-"
            label = point_label(groups, line) or None
            left.errorbar(places, accuracy, spread, fmt=style, lw=1.2, ms=5, capsize=2, color=own, label=label)
            for value, shade in zip(across.tolist(), colours(accuracy.size), strict=True):
                curve = 100 * results.select("validation_accuracy_by_ridge", at | dict.fromkeys(last, value))
                if np.isfinite(curve).any():
                    label = point_label(dims, (*line, value) if last else line) or None
                    right.semilogx(results["lambda"], curve, f"{mark}-", lw=1, ms=3.5, color=shade, label=label)
        left.set(xlabel=readable(last[0]) if last else "", ylabel="test accuracy, %")
        _ticks(left, across, last)
        right.set(xlabel=r"ridge $\lambda$, of $K + n\lambda I$", ylabel="validation accuracy, %")
        if left.get_legend_handles_labels()[1]:
            left.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
        if entries := len(right.get_legend_handles_labels()[1]):
            columns = 1 + (entries > MANY_ENTRIES)
            figure.set_figwidth(figure.get_figwidth() + LEGEND_INCHES * columns)
            right.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1), ncols=columns)
        return add_title(figure, self.title)


def _logarithmic(across: NDArray[Any]) -> bool:
    """Whether these values of an axis, (k,), are positive numbers that span more than WIDE_FACTOR."""
    return bool(across.dtype.kind in "iuf" and across.min() > 0 and across.max() > WIDE_FACTOR * across.min())


def _apart(across: NDArray[Any], offset: float, lines: int) -> NDArray[np.float64]:
    """Places along the axis of the points of one line, (k,). All lines lie within a fifth of the smallest gap.

    across: values of the sweep's last axis, (k,).
    offset: number of the line, counted from the middle one.
    lines: number of lines.
    """
    log = _logarithmic(across)
    places = across.astype(np.float64) if across.dtype.kind in "iuf" else np.arange(across.size, dtype=np.float64)
    places = np.log(places) if log else places
    gaps = np.diff(np.unique(places))
    places = places + offset / lines * (0.2 * gaps.min() if gaps.size else 0.0)
    return np.exp(places) if log else places


def _ticks(axis: Axes, across: NDArray[Any], last: tuple[str, ...]) -> None:
    """Ticks of the left panel: one per word or table, one per whole number, or a logarithmic axis.

    across: values of the sweep's last axis.
    last: its name; empty where there is no sweep.
    """
    if not last:
        axis.set_xticks([])
    elif across.dtype.kind not in "iuf":
        words = [point_label(("kind",), (value,)) for value in across.tolist()]
        long = sum(map(len, words)) > 40
        axis.set_xticks(range(len(words)), words, rotation=25 if long else 0, ha="right" if long else "center")
        axis.set_xlim(-0.5, len(words) - 0.5)
    elif _logarithmic(across):
        axis.set_xscale("log")
        if across.size <= 8:
            tick_at(axis, across)
    elif across.dtype.kind in "iu":
        axis.set_xticks(across)
