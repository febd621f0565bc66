"""Recorded trajectories: one panel per name, one line per point of the sweep, its mean over seeds with a band.

A second trajectory of the point, such as a prediction of the theory, can be drawn dashed in the same colour.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.parsing import AsTuple
from simlab.figures.figure import Figure
from simlab.figures.powers import legend_below
from simlab.figures.seeds import SEEDS, courses
from simlab.figures.style import add_title, colours, panels
from simlab.figures.words import point_label, readable
from simlab.record.reader import Results
from simlab.record.schema import RECORD, Output
from simlab.statistics.sweeps import each_seed

MOST_COLOURS = 8
"""Up to this many points, each has its own colour."""


class Trajectories(Figure):
    """Recorded trajectories, one panel per name."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"y": ["train_loss"]},
        {"y": ["train_loss", "step"], "beside": ["test_loss", ""], "log_y": False},
    )
    y: Annotated[tuple[str, ...], AsTuple] = Field(
        min_length=1, max_length=6, description="recorded names, one panel each"
    )
    beside: Annotated[tuple[str, ...], AsTuple] = Field(
        (), description='of each panel a recorded name to draw dashed, "" for none'
    )
    x: Literal["step", "time", "record"] = Field("step", description="the horizontal axis")
    log_x: bool = Field(False, description="a logarithmic horizontal axis, linear below its first positive value")
    log_y: bool = Field(True, description="a logarithmic vertical axis")
    seeds: SEEDS = "band"
    title: str = Field("", description="above all panels")

    def check(self, outputs: Mapping[str, Output]) -> None:
        known = [name for name, output in outputs.items() if output.dims == (RECORD,)]
        if self.beside and len(self.beside) != len(self.y):
            raise BadInput(
                f'figure.beside = {shown(list(self.beside))}: must have {len(self.y)} names as y has, "" for none'
            )
        for name in [*self.y, *filter(None, self.beside), self.x]:
            if name not in known and name != RECORD:
                raise BadInput(
                    f"figure: {shown(name)} is not a trajectory of this run{nearest(name, known)} ({one_of(known)})"
                )

    def draw(self, results: Results) -> Picture:
        figure, axes = panels(len(self.y))
        dims = [dim for dim in results.dims["length"] if dim != "seed"]
        points = list(itertools.product(*(results[dim].tolist() for dim in dims)))
        # Few points have a colour each. Of many, those with the same value of the first axis share one.
        own = len(points) <= MOST_COLOURS or len(dims) == 1
        keys = points if own else list(dict.fromkeys(point[:1] for point in points))
        shades = dict(zip(keys, colours(len(keys)), strict=True))
        dashed = self.beside or ("",) * len(self.y)
        for axis, name, beside in zip(axes, self.y, dashed, strict=True):
            first_x, named = float("inf"), set()
            for point in points:
                at, key = dict(zip(dims, point, strict=True)), point if own else point[:1]
                text = None if key in named or not key else point_label(dims[: len(key)], key)
                named.add(key)
                look: dict[str, Any] = {"x": self.x, "log": self.log_y, "seeds": self.seeds, "color": shades[key]}
                courses(axis, results, name, at, label=text, **look)
                if beside:
                    courses(axis, results, beside, at, "--", lw=1.1, **look)
                if self.x != RECORD:
                    x = np.concatenate(each_seed(results, self.x, at))
                    first_x = min([first_x, *np.sort(x[x > 0])[:1].tolist()])
            if beside:
                axis.plot([], [], "k--", lw=1.1, label=readable(beside))
            if self.log_x:
                # Linear from 0 to the first record after it.
                axis.set_xscale("symlog", linthresh=first_x if np.isfinite(first_x) else 1)
            if self.log_y:
                axis.set_yscale("log")
            axis.set_xlabel(readable(self.x))
            axis.set_ylabel(readable(name))
            if beside and self.log_y:
                legend_below(axis, "")
            elif (axis is axes[0] or beside) and axis.get_legend_handles_labels()[1]:
                axis.legend(fontsize=8, frameon=False)
        return add_title(figure, self.title)
