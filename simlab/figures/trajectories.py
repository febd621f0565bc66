"""Recorded trajectories, one panel a name, one line a point; lines of one value of the first axis share a colour."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Literal

import numpy as np
from matplotlib.figure import Figure
from pydantic import Field

from simlab.core.errors import BadInput, nearest, one_of
from simlab.core.params import Params as Base
from simlab.figures._style import colours, panels, readable
from simlab.record.reader import Results
from simlab.record.schema import RECORD, Output


class Params(Base):
    y: list[str] = Field(min_length=1, max_length=6, description="recorded names, one panel each")
    x: Literal["step", "time", "record"] = Field("step", description="the horizontal axis")
    log_x: bool = False
    log_y: bool = True
    title: str = ""


EXAMPLES = ({"y": ["train_loss"]},)


def check(params: Params, outputs: Mapping[str, Output]) -> None:
    known = [name for name, output in outputs.items() if output.dims == (RECORD,)]
    for name in [*params.y, params.x]:
        if name not in known and name != RECORD:
            raise BadInput(f"figure: {name!r} is not a trajectory of this run{nearest(name, known)} ({one_of(known)})")


def draw(params: Params, results: Results) -> Figure:
    figure, axes = panels(len(params.y))
    dims = results.dims["length"]
    values = [results[dim] for dim in dims]
    shades = colours(len(values[0]) if values else 1)
    for axis, name in zip(axes, params.y, strict=True):
        first_x = float("inf")
        for index in itertools.product(*(range(len(v)) for v in values)):
            where = {dim: v[i] for dim, v, i in zip(dims, values, index, strict=True)}
            y = results.select(name, where)
            x = np.arange(len(y)) if params.x == RECORD else results.select(params.x, where)
            first_x = min([first_x, *x[x > 0][:1].tolist()])
            if params.log_y:
                y = np.where(y > 0, y, np.nan)
            first = index[0] if index else 0
            label = f"{dims[0]} = {values[0][first]}" if dims and not any(index[1:]) else None
            axis.plot(x, y, color=shades[first], lw=1.3, alpha=0.8, label=label)
        if params.log_x:
            # Linear from 0 to the first record after it.
            axis.set_xscale("symlog", linthresh=first_x if np.isfinite(first_x) else 1)
        if params.log_y:
            axis.set_yscale("log")
        axis.set_xlabel(readable(params.x))
        axis.set_ylabel(readable(name))
    if dims:
        axes[0].legend(fontsize=8, frameon=False)
    if params.title:
        figure.suptitle(params.title)
    return figure
