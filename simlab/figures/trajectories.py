"""Recorded trajectories: one panel per name, one line per point of the sweep, its mean over seeds with a band.

Beside them, dashed and of the same colour, another trajectory of the point, such as what theory predicts of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from pydantic import Field

from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.params import Params as Base
from simlab.figures.powers import legend_below
from simlab.figures.seeds import SEEDS, courses, each_seed
from simlab.figures.style import colours, panels
from simlab.figures.words import point_label, readable
from simlab.record.reader import Results
from simlab.record.schema import RECORD, Output

MOST_COLOURS = 8


class Params(Base):
    y: list[str] = Field(min_length=1, max_length=6, description="recorded names, one panel each")
    beside: list[str] = Field([], description='of each panel a recorded name to draw dashed, "" for none')
    x: Literal["step", "time", "record"] = Field("step", description="the horizontal axis")
    log_x: bool = False
    log_y: bool = True
    seeds: SEEDS = "band"
    title: str = ""


EXAMPLES = ({"y": ["train_loss"]}, {"y": ["train_loss", "step"], "beside": ["test_loss", ""], "log_y": False})


def check(params: Params, outputs: Mapping[str, Output]) -> None:
    known = [name for name, output in outputs.items() if output.dims == (RECORD,)]
    if params.beside and len(params.beside) != len(params.y):
        raise BadInput(f'figure.beside = {shown(params.beside)}: must have {len(params.y)} names as y has, "" for none')
    for name in [*params.y, *filter(None, params.beside), params.x]:
        if name not in known and name != RECORD:
            raise BadInput(
                f"figure: {shown(name)} is not a trajectory of this run{nearest(name, known)} ({one_of(known)})"
            )


def draw(params: Params, results: Results) -> Figure:
    figure, axes = panels(len(params.y))
    dims = [dim for dim in results.dims["length"] if dim != "seed"]
    points = list(itertools.product(*(results[dim].tolist() for dim in dims)))
    # Few points have a colour each; of many, those of one value of the first axis share theirs.
    own = len(points) <= MOST_COLOURS or len(dims) == 1
    keys = points if own else list(dict.fromkeys(point[:1] for point in points))
    shades = dict(zip(keys, colours(len(keys)), strict=True))
    dashed = params.beside or [""] * len(params.y)
    for axis, name, beside in zip(axes, params.y, dashed, strict=True):
        first_x, named = float("inf"), set()
        for point in points:
            at, key = dict(zip(dims, point, strict=True)), point if own else point[:1]
            text = None if key in named or not key else point_label(dims[: len(key)], key)
            named.add(key)
            look: dict[str, Any] = {"x": params.x, "log": params.log_y, "seeds": params.seeds}
            courses(axis, results, name, at, shades[key], text, "-", **look)
            if beside:
                courses(axis, results, beside, at, shades[key], None, "--", lw=1.1, **look)
            if params.x != RECORD:
                x = np.concatenate(each_seed(results, params.x, at))
                first_x = min([first_x, *np.sort(x[x > 0])[:1].tolist()])
        if beside:
            axis.plot([], [], "k--", lw=1.1, label=readable(beside))
        if params.log_x:
            # Linear from 0 to the first record after it.
            axis.set_xscale("symlog", linthresh=first_x if np.isfinite(first_x) else 1)
        if params.log_y:
            axis.set_yscale("log")
        axis.set_xlabel(readable(params.x))
        axis.set_ylabel(readable(name))
        if beside and params.log_y:
            legend_below(axis, "")
        elif (axis is axes[0] or beside) and axis.get_legend_handles_labels()[1]:
            axis.legend(fontsize=8, frameon=False)
    if params.title:
        figure.suptitle(params.title, fontsize=11)
    return figure
