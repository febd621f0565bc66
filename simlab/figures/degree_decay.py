"""The residual's power by degree along a flow, as a share of its start, beside what the kernel's spectrum predicts.

One panel per point of the sweep, one line per degree: the mean over seeds, with a band. Dashed: (1 − ημ_k)^{2t} of a
descent of constant step η, or e^{−2μ_k t} of a flow in time, where the run recorded the eigenvalues μ_k of the tangent
kernel of infinite width (``residual_power`` with ``limit = true``).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.figures.figure import Figure
from simlab.figures.seeds import SEEDS, Seeds, course
from simlab.figures.style import GREY, add_title, colours, panels
from simlab.figures.words import point_label, readable
from simlab.record.reader import Results
from simlab.record.schema import Output
from simlab.statistics.degrees import degrees_present, predicted_slope

NEEDED = "residual_power"
FLOOR_SHARE = 5e-3
"""Lower end of the vertical axis, as a share of the power at the start."""


class DegreeDecay(Figure):
    """The residual's power by degree along a flow."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"title": "low degrees first"},)
    seeds: SEEDS = "band"
    title: str = Field("", description="above all panels")

    def check(self, outputs: Mapping[str, Output]) -> None:
        if NEEDED not in outputs:
            raise BadInput(f"figure: degree_decay needs {NEEDED!r} among the observables of this run")

    def draw(self, results: Results) -> Picture:
        dims = [dim for dim in results.dims["length"] if dim != "seed"]
        seeds = results["seed"].tolist() if "seed" in results.dims["length"] else [None]
        values = list(itertools.product(*(results[dim].tolist() for dim in dims)))
        figure, axes = panels(len(values))
        for axis, value in zip(axes, values, strict=True):
            at = dict(zip(dims, value, strict=True))
            decay_lines(axis, results, [at | ({} if seed is None else {"seed": seed}) for seed in seeds], self.seeds)
            axis.set_title(point_label(dims, value))
        return add_title(figure, self.title)


def decay_lines(axis: Axes, results: Results, points: list[dict[str, Any]], seeds: Seeds = "band") -> None:
    """Mean and range over seeds, one line per degree, and the prediction of the first seed.

    points: coordinates of one point of the sweep, one dict per seed.
    seeds: as in `course`.
    """
    x_name = "step" if "step_size" in results else "time"
    starts = [np.stack([results.select(name, at)[:1] for at in points]) for name in (NEEDED, f"{NEEDED}_error")]
    degrees = degrees_present(*starts)
    first_x = 1.0
    for degree, shade in zip(degrees, colours(len(degrees)), strict=True):
        powers = [results.select(NEEDED, at)[:, degree] for at in points]
        x = [results.select(x_name, at).astype(np.float64) for at in points]
        first_x = min((float(one[one > 0][0]) for one in x if (one > 0).any()), default=1.0)
        # Powers are unbiased estimates that noise can make negative, so they have no geometric mean.
        shares = [power / power[0] for power in powers]
        look: dict[str, Any] = {"color": shade, "label": f"degree {degree}", "ms": 3, "lw": 1.0}
        course(axis, x, shares, "o-", log=True, geometric=False, seeds=seeds, **look)
        if (slope := predicted_slope(results, points[0], degree)) is not None and np.isfinite(slope):
            fine = np.append(0.0, np.geomspace(first_x, max(one[-1] for one in x), 300))
            axis.plot(fine, np.exp(slope * fine), "--", lw=1.4, color=shade)
    if "limit_eigenvalue" in results:
        text = r"$(1 - \eta\mu_k)^{2t}$" if x_name == "step" else r"$\exp(-2\mu_k t)$"
        axis.plot([], [], "--", lw=1.4, color=GREY, label=text)
    axis.set(yscale="log", ylim=(FLOOR_SHARE, 2.0), xlabel=readable(x_name), ylabel="residual power / start")
    axis.set_xscale("symlog", linthresh=first_x)
    axis.set_xlim(left=0.0)
    axis.legend(frameon=False, fontsize=8, loc="lower left")
