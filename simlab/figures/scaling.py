"""Recorded numbers against an axis of the sweep on log axes, with fitted exponents; the other axes are lines.

Of a trajectory the last value is drawn, or the largest: the supremum over the recorded instants.
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
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.seeds import SEEDS
from simlab.figures.style import add_title, colours, panels, tick_at
from simlab.figures.words import point_label, readable
from simlab.record.reader import Results
from simlab.record.schema import RECORD, Output
from simlab.statistics.sweeps import last_or_largest

FEW_TICKS = 6
"""Up to this many values of x, each has a tick."""


class Scaling(Figure):
    """Recorded numbers against an axis of the sweep, with fitted power laws."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"x": "network.width", "y": ["rms_error"], "reference": -0.5},
        {"x": "flow.alpha", "y": ["weight_movement"], "of": "largest", "fit": False},
    )
    x: str = Field(description="an axis of the sweep")
    y: Annotated[tuple[str, ...], AsTuple] = Field(
        min_length=1, max_length=6, description="recorded names, one panel each"
    )
    of: Literal["end", "largest"] = Field("end", description="which value of a trajectory: its last or its largest")
    fit: bool = Field(True, description="fit a power law to each line")
    reference: float | None = Field(None, description="exponent of a line to compare with")
    seeds: SEEDS = "band"
    title: str = Field("", description="above all panels")

    def check(self, outputs: Mapping[str, Output]) -> None:
        known = [name for name, output in outputs.items() if output.dims in ((), (RECORD,))]
        for name in self.y:
            if name not in known:
                says = f"is no number or trajectory of this run{nearest(name, known)} ({one_of(known)})"
                raise BadInput(f"figure: {shown(name)} {says}")

    def draw(self, results: Results) -> Picture:
        dims = results.dims["length"]
        across = results.dims[self.x][0] if self.x in results and len(results.dims[self.x]) == 1 else None
        if across not in dims:
            raise BadInput(f"figure.x = {shown(self.x)}: no axis of this sweep (there are: {one_of(dims)})")
        x = results[self.x].astype(np.float64)
        lines = [dim for dim in dims if dim not in (across, "seed")]
        points = list(itertools.product(*(results[dim].tolist() for dim in lines)))
        figure, axes = panels(len(self.y))
        for axis, name in zip(axes, self.y, strict=True):
            tops = []
            for point, shade in zip(points, colours(len(points)), strict=True):
                values = last_or_largest(results, name, dict(zip(lines, point, strict=True)), self.of)
                # values: (x,) or (x, seeds). The sweep's order is kept, and seeds are its last axis.
                power_line(axis, x, values, shade, point_label(lines, point), fit=self.fit, seeds=self.seeds)
                tops.append(np.nanmax(values))
            if self.reference is not None:
                reference_line(axis, x, 1.3 * float(np.max(tops)), self.reference)
            axis.set(xlabel=readable(self.x), ylabel=readable(name))
            if x.size <= FEW_TICKS:
                tick_at(axis, x)
            legend_below(axis, "fitted exponent" if self.fit else "")
        return add_title(figure, self.title)
