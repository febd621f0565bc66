"""The share of every degree that is not learned, against log(samples or neurons)/log d; lines: theory, where known.

Every combination of the sweep's other axes has a panel.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.core.params import Params as Base
from simlab.figures.curves import combinations, label, stairs
from simlab.figures.style import panels
from simlab.record.reader import Results
from simlab.record.schema import Output

SIZE = "experiment.size"
MOST_PANELS = 12


class Params(Base):
    title: str = ""
    size: str = Field("size", description="what the horizontal axis counts: n, N, …")


def check(params: Params, outputs: Mapping[str, Output]) -> None:
    if "unlearned" not in outputs:
        raise BadInput("figure: this run does not record unlearned, which staircases draws")


def draw(params: Params, results: Results) -> Figure:
    if SIZE not in results:
        raise BadInput(f"figure: staircases draws against {SIZE}, which this run does not sweep")
    others = list(combinations(results, "unlearned", ("seed", results.dims[SIZE][0])))[:MOST_PANELS]
    figure, axes = panels(len(others))
    for axis, at in zip(axes, others, strict=True):
        stairs(axis, results, at, params.size)
        axis.set_title(label(at), fontsize=10)
    axes[0].legend(frameon=False, fontsize=8)
    if params.title:
        figure.suptitle(params.title, fontsize=11)
    return figure
