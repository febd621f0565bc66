"""The last training loss of every point, one dot per point, on a log axis."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.figures import Figure
from simlab.figures.style import panels
from simlab.record.reader import Results


class LastLosses(Figure):
    """The last training loss of every point."""

    needs = ("train_loss",)

    def draw(self, results: Results) -> Picture:
        losses = results["train_loss"].reshape(-1, results["train_loss"].shape[-1])
        last = [row[np.isfinite(row)][-1] for row in losses]
        figure, (axis,) = panels(1)
        axis.plot(range(len(last)), last, "o", clip_on=False)
        axis.set(xlabel="point", ylabel="training loss at the end", yscale="log")
        return figure
