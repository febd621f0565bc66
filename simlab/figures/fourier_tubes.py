"""The network's |(fφ)^| with its tubes, and the target's |(gφ)^|: one row of two panels per point, at the last record.

Lines are the edges of the tubes span(w_j) + R_d B, the circle has radius R_d.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Circle
from matplotlib.ticker import MaxNLocator
from pydantic import Field

from simlab.figures.curves import label
from simlab.figures.figure import Figure
from simlab.figures.style import add_title
from simlab.figures.words import number
from simlab.record.reader import Results
from simlab.record.schema import RECORD
from simlab.statistics.sweeps import points_of

MOST_ROWS = 4
"""Points of the sweep that are drawn, the first ones."""


class FourierTubes(Figure):
    """Fourier transforms of net and target, with the tubes of the net."""

    needs = ("fourier_net", "fourier_target", "tube_angle", "net_outside", "target_outside")
    title: str = Field("", description="above all panels")
    decades: float = Field(4.0, gt=0, le=16, description="of the colour scale, below the largest value")

    def draw(self, results: Results) -> Picture:
        points = list(points_of(results, "fourier_net", ("seed", RECORD, "frequency_x", "frequency_y")))[:MOST_ROWS]
        figure, axes = panel_rows(len(points))
        for row, at in zip(axes, points, strict=True):
            first = {"seed": results["seed"][0]} if "seed" in results.dims["fourier_net"] else {}
            draw_pair(figure, row, results, at | first, label(at) or "network", self.decades)
        return add_title(figure, self.title)


def draw_transform(axis: Axes, picture: Any, angles: Any, extent: float, norm: LogNorm, title: str) -> Any:
    """One transform with its tubes; returns matplotlib's image, for the colour bar.

    picture: |transform|, (pixels, pixels).
    angles: directions of the tubes in radians, (m,); NaN for none.
    extent: the largest frequency, in units of R_d.
    norm: colour scale.
    """
    half = extent * (1.0 + 1.0 / (len(picture) - 1))  # to the outer edge of the last pixel
    frame = (-half, half, -half, half)
    image = axis.imshow(picture, origin="lower", extent=frame, norm=norm, cmap="magma", interpolation="nearest")
    for angle in angles[np.isfinite(angles)]:  # NaN where another point has more tubes
        along, across = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
        for side in (-1.0, 1.0):
            ends = np.array([side * across - 3 * extent * along, side * across + 3 * extent * along])
            axis.plot(*ends.T, color="white", lw=0.6, alpha=0.55)
    axis.add_patch(Circle((0, 0), 1.0, fill=False, ec="white", lw=0.8, ls="--"))
    axis.set(xlim=(-half, half), ylim=(-half, half), xlabel=r"$\xi_1/R_d$", ylabel=r"$\xi_2/R_d$")
    axis.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axis.yaxis.set_major_locator(MaxNLocator(8, integer=True))
    axis.set_title(title, fontsize=9)
    return image


def draw_pair(
    figure: Picture, row: Any, results: Results, where: Mapping[str, Any], name: str, decades: float = 4.0
) -> None:
    """The network and the target of one point at its last record, on one colour scale.

    row: the two axes.
    where: coordinates of the point, seed included.
    name: title of the network's panel.
    decades: powers of ten that the colour scale spans.
    """
    pictures = results.select("fourier_net", where)[-1], results.select("fourier_target", where)
    angles, extent = results.select("tube_angle", where)[-1], float(results["frequency_x"][-1])
    top = float(max(picture.max() for picture in pictures))
    norm = LogNorm(top * 10.0**-decades, top, clip=True)
    for axis, picture, words, key in zip(row, pictures, (name, "target"), ("net", "target"), strict=True):
        share = float(results.select(f"{key}_outside", where)[-1])
        letter = {"net": "f", "target": "g"}[key]
        part = number(float(f"{share:.2g}"))
        title = rf"{words}: $|\widehat{{{letter}\varphi}}|$, {part} of its energy outside the tubes"
        image = draw_transform(axis, picture, angles, extent, norm, title)
    figure.colorbar(image, ax=list(row), shrink=0.85)


def panel_rows(count: int) -> tuple[Picture, Any]:
    """A figure of `count` rows of two panels; the axes as an array (count, 2)."""
    figure = Picture(figsize=(9.0, 4.3 * count), layout="constrained")
    return figure, figure.subplots(count, 2, squeeze=False)
