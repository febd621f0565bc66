"""The share of every degree that is not learned, against log(samples or neurons)/log d; lines: theory, where known.

One panel per combination of the sweep's other axes.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.figures.curves import label, stairs
from simlab.figures.figure import Figure
from simlab.figures.style import add_title, panels
from simlab.record.reader import Results
from simlab.statistics.sweeps import points_of

SIZE = "experiment.size"
MOST_PANELS = 12
"""Combinations that are drawn, the first ones."""


class Staircases(Figure):
    """Shares of every degree that are not learned, against the size."""

    needs = ("unlearned",)
    title: str = Field("", description="above all panels")
    size: str = Field("size", description="what the horizontal axis counts: n, N, …")

    def draw(self, results: Results) -> Picture:
        if SIZE not in results:
            raise BadInput(f"figure: staircases draws against {SIZE}, which this run does not sweep")
        others = list(points_of(results, "unlearned", ("seed", results.dims[SIZE][0])))[:MOST_PANELS]
        figure, axes = panels(len(others))
        for axis, at in zip(axes, others, strict=True):
            stairs(axis, results, at, self.size)
            axis.set_title(label(at), fontsize=10)
        axes[0].legend(frameon=False, fontsize=8)
        return add_title(figure, self.title)
