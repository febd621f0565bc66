"""The sharpness along a descent beside 2/η, above which steps of size η are unstable, and the training loss. MATH §10.

One colour per point of the sweep. Dashed lines are 2/η, η the recorded step size at the start; seeds are drawn as a
mean and a band.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.figures.figure import Figure
from simlab.figures.powers import legend_below
from simlab.figures.seeds import SEEDS, course, courses
from simlab.figures.style import add_title, colours, panels
from simlab.figures.words import point_label
from simlab.record.reader import Results
from simlab.statistics.sweeps import each_seed, points_of


class Sharpening(Figure):
    """Sharpness with lines 2/η, and training loss."""

    needs = ("sharpness", "train_loss", "step_size")
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"seeds": "lines"})

    seeds: SEEDS = "band"
    title: str = Field("", description="above both panels")

    def draw(self, results: Results) -> Picture:
        figure, (left, right) = panels(2)
        points = list(points_of(results, "length", without=("seed",)))
        for at, colour in zip(points, colours(len(points)), strict=True):
            look: dict[str, Any] = {"log": True, "seeds": self.seeds, "color": colour}
            steps = each_seed(results, "step", at)
            largest = [values[:, 0] for values in each_seed(results, "sharpness", at)]
            course(left, steps, largest, label=point_label(at.keys(), at.values()) or None, **look)
            edge = 2.0 / float(np.mean(each_seed(results, "step_size", at)))
            left.axhline(edge, ls="--", lw=1.1, color=colour)
            courses(right, results, "train_loss", at, **look)
        left.plot([], [], "k--", lw=1.1, label=r"$2/\eta$")
        left.set(yscale="log", xlabel="step", ylabel="sharpness")
        right.set(yscale="log", xlabel="step", ylabel="training loss")
        legend_below(left, "")
        return add_title(figure, self.title)
