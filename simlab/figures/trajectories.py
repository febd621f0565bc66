"""Recorded trajectories, one panel a name, one line a point; lines of one value of the first axis share a colour.

Beside them, dashed and of the same colour, another trajectory of the point, such as what theory predicts of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Literal

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput, nearest, one_of
from simlab.core.params import Params as Base
from simlab.figures._powers import legend_below
from simlab.figures._style import colours, panels, point_label, readable
from simlab.record.reader import Results
from simlab.record.schema import RECORD, Output


class Params(Base):
    y: list[str] = Field(min_length=1, max_length=6, description="recorded names, one panel each")
    beside: list[str] = Field([], description='of each panel a recorded name to draw dashed, "" for none')
    x: Literal["step", "time", "record"] = Field("step", description="the horizontal axis")
    log_x: bool = False
    log_y: bool = True
    title: str = ""


EXAMPLES = ({"y": ["train_loss"]}, {"y": ["train_loss", "step"], "beside": ["test_loss", ""], "log_y": False})


def check(params: Params, outputs: Mapping[str, Output]) -> None:
    known = [name for name, output in outputs.items() if output.dims == (RECORD,)]
    if params.beside and len(params.beside) != len(params.y):
        raise BadInput(f'figure.beside = {params.beside}: must have {len(params.y)} names as y has, "" for none')
    for name in [*params.y, *filter(None, params.beside), params.x]:
        if name not in known and name != RECORD:
            raise BadInput(f"figure: {name!r} is not a trajectory of this run{nearest(name, known)} ({one_of(known)})")


def _label(dim: str, value: object) -> str:
    """``network.width = 100``; of a whole table its values."""
    return point_label([dim], [value]) if str(value).startswith("{") else f"{dim} = {value}"


def _drawable(params: Params, y: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(y > 0, y, np.nan) if params.log_y else y


def draw(params: Params, results: Results) -> Figure:
    figure, axes = panels(len(params.y))
    dims = results.dims["length"]
    values = [results[dim] for dim in dims]
    shades = colours(len(values[0]) if values else 1)
    dashed = params.beside or [""] * len(params.y)
    for axis, name, beside in zip(axes, params.y, dashed, strict=True):
        first_x = float("inf")
        for index in itertools.product(*(range(len(v)) for v in values)):
            where = {dim: v[i] for dim, v, i in zip(dims, values, index, strict=True)}
            y = results.select(name, where)
            x = np.arange(len(y)) if params.x == RECORD else results.select(params.x, where)
            first_x = min([first_x, *x[x > 0][:1].tolist()])
            first = index[0] if index else 0
            label = _label(dims[0], values[0][first]) if dims and not any(index[1:]) else None
            axis.plot(x, _drawable(params, y), color=shades[first], lw=1.3, alpha=0.8, label=label)
            if beside:
                other = _drawable(params, results.select(beside, where))
                axis.plot(x, other, "--", color=shades[first], lw=1.1, alpha=0.8)
        if beside:
            axis.plot([], [], "k--", lw=1.1, label=readable(beside))
        if params.log_x:
            # Linear from 0 to the first record after it.
            axis.set_xscale("symlog", linthresh=first_x if np.isfinite(first_x) else 1)
        if params.log_y:
            axis.set_yscale("log")
        if beside and params.log_y:
            legend_below(axis, "")
        elif beside:
            axis.legend(fontsize=8, frameon=False)
        axis.set_xlabel(readable(params.x))
        axis.set_ylabel(readable(name))
    if dims and not dashed[0]:
        axes[0].legend(fontsize=8, frameon=False)
    if params.title:
        figure.suptitle(params.title)
    return figure
