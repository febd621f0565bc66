"""Eigenvalues of every point against the degree on log axes, even and odd apart, with the law that is predicted.

Of a sweep with several axes the first has a panel for each of its values.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from matplotlib.figure import Figure

from simlab.core.errors import BadInput
from simlab.core.params import Params as Base
from simlab.figures._spectra import eigenvalue_lines, log10_axis
from simlab.figures._style import colours, panels
from simlab.record.reader import Results
from simlab.record.schema import Output


class Params(Base):
    title: str = ""


def check(params: Params, outputs: Mapping[str, Output]) -> None:
    for name in ("log10_eigenvalue", "log10_predicted"):
        if name not in outputs:
            raise BadInput(f"figure: this run does not record {name}, which eigenvalues draws")


def draw(params: Params, results: Results) -> Figure:
    dims = results.dims["trace"]
    outer, inner = (dims[:1], dims[1:]) if len(dims) > 1 else ((), dims)
    across, points = (list(itertools.product(*(results[dim].tolist() for dim in some))) for some in (outer, inner))
    figure, axes = panels(len(across))
    for axis, value in zip(axes, across, strict=True):
        for point, shade in zip(points, colours(len(points)), strict=True):
            at = dict(zip((*outer, *inner), (*value, *point), strict=True))
            log10, law = results.select("log10_eigenvalue", at), results.select("log10_predicted", at)
            eigenvalue_lines(axis, results["degree"], log10, law, shade, _label(inner, point))
        axis.set(xscale="log", xlabel="degree k", ylabel="eigenvalue")
        axis.set_title(_label(outer, value), fontsize=10)
        log10_axis(axis)
    if inner:
        axes[0].legend(frameon=False, fontsize=8)
    if params.title:
        figure.suptitle(params.title, fontsize=11)
    return figure


def _label(dims: tuple[str, ...], values: tuple[object, ...]) -> str:
    """``depth 3, dim 10``"""
    return ", ".join(f"{dim.rpartition('.')[2]} {value}" for dim, value in zip(dims, values, strict=True))
