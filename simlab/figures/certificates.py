"""Certificates: the error that no two-layer net of a width can go below, and the least width for an error. MATH §8.

Left: the bounds against the width, one line per point of the sweep. Right, if the sweep goes over the dimension: the
logarithm of the least width against the dimension, one line per error. Dashed: the reference target.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.figures.curves import label
from simlab.figures.figure import Figure
from simlab.figures.style import add_title, colours, panels
from simlab.figures.words import number
from simlab.record.reader import Results
from simlab.statistics.sweeps import points_of

DIM = "data.dim"
REFERENCE = "_reference"
"""End of the recorded names that belong to the reference target."""


class Certificates(Figure):
    """Least error of a width, and least width for an error, by certificate."""

    needs = ("bound", "log10_width")
    title: str = Field("", description="above all panels")

    def draw(self, results: Results) -> Picture:
        along = results.dims["log10_width"][:-1]
        over_dim = DIM in results and along == results.dims[DIM]
        figure, axes = panels(1 + over_dim)
        _bounds(axes[0], results)
        if over_dim:
            width_lines(axes[1], results)
            if f"log10_width{REFERENCE}" in results:
                width_lines(axes[1], results, REFERENCE, "--", "reference, ")
            axes[1].legend(frameon=False, fontsize=8, title="error", title_fontsize=8)
        return add_title(figure, self.title)


def _bounds(axis: Axes, results: Results) -> None:
    """The least error against the width, one line per point of the sweep."""
    points = list(points_of(results, "bound", ("width",)))
    for at, shade in zip(points, colours(len(points)), strict=True):
        # Where several axes of the sweep advance together, the first one labels the point.
        axis.plot(results["width"], results.select("bound", at), "o-", ms=3, lw=1.2, color=shade, label=label(at))
        if f"bound{REFERENCE}" in results:
            axis.plot(results["width"], results.select(f"bound{REFERENCE}", at), "--", lw=1.2, color=shade)
    axis.set(xscale="log", yscale="log", xlabel="width $m$", ylabel=r"least $\mathrm{E}(f - g)^2$")
    if len(points) > 1:
        axis.legend(frameon=False, fontsize=8)


def width_lines(axis: Axes, results: Results, end: str = "", style: str = "o-", prefix: str = "") -> None:
    """log10 of the least width against the dimension, one line per error.

    end: "" for the target, `REFERENCE` for the reference target.
    style: matplotlib's format of the lines.
    prefix: what their labels begin with.
    """
    for k, (eps, shade) in enumerate(zip(results["eps"], colours(results["eps"].size), strict=True)):
        values = results[f"log10_width{end}"][..., k]
        axis.plot(
            results[DIM], np.where(np.isfinite(values), values, np.nan), style, ms=3, lw=1.2, color=shade,
            label=f"{prefix}{number(eps)}",
        )  # fmt: skip
    axis.set(xlabel="dimension $d$", ylabel=r"$\log_{10}$ of the least width")
