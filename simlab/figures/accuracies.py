"""Accuracies of every point of a sweep: on the test against the last axis, and on validation against λ. [S0]

Bars are standard errors over test images.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from simlab.core.errors import BadInput
from simlab.core.params import Params as Base
from simlab.figures._style import colours, panels, readable
from simlab.record.reader import Results
from simlab.record.schema import Output

NEEDED = ("test_accuracy", "test_spread", "validation_accuracy_by_ridge")


class Params(Base):
    title: str = ""


def check(params: Params, outputs: Mapping[str, Output]) -> None:
    for name in NEEDED:
        if name not in outputs:
            raise BadInput(f"figure: this run does not record {name}, which accuracies draws")


def draw(params: Params, results: Results) -> Figure:
    figure, (left, right) = panels(2)
    dims = results.dims["test_accuracy"]
    groups, last = (dims[:-1], dims[-1:]) if dims else ((), ())
    lines = list(itertools.product(*(results[dim].tolist() for dim in groups)))
    marks = itertools.cycle("os^Dv")
    for line, mark in zip(lines, marks, strict=False):
        at = dict(zip(groups, line, strict=True))
        name = " ".join(map(str, line))
        accuracy = np.atleast_1d(100 * results.select("test_accuracy", at))
        across = results[last[0]] if last else np.zeros(1)
        spread = np.atleast_1d(100 * results.select("test_spread", at))
        left.errorbar(across, accuracy, spread, fmt=f"{mark}-", lw=1.2, ms=5, capsize=2, label=name or None)
        for i, shade in enumerate(colours(accuracy.size)):
            inner = at | ({last[0]: results[last[0]][i]} if last else {})
            curve = 100 * results.select("validation_accuracy_by_ridge", inner)
            label = f"{name} {results[last[0]][i] if last else ''}".strip()
            right.semilogx(results["lambda"], curve, f"{mark}-", lw=1, ms=3.5, color=shade, label=label or None)
    left.set(xlabel=readable(last[0].rpartition(".")[2]) if last else "", ylabel="test accuracy, %")
    if last and results[last[0]].dtype.kind in "i":
        left.set_xticks(results[last[0]])
    right.set(xlabel="λ, of K + nλI", ylabel="validation accuracy, %")
    for axis in (left, right):
        if axis.get_legend_handles_labels()[1]:
            axis.legend(frameon=False, fontsize=7)
    if params.title:
        figure.suptitle(params.title, fontsize=11)
    return figure
