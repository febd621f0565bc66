"""The first layer of poly(d) neurons stays as near to α‖x‖ as it was drawn, all along training. MATH §8.

D = E(F/α − 1)² over the unit sphere, exact. Training on a radial target stretches all neurons v alike, to first order
in the deviation, which changes α and not F/α; what is left is descent on the deviation itself: D falls. Measured with
5 d neurons and 1000 samples: to 0.03 of its start at d = 5, 0.6 at d = 50 by the time 80; dD/dt < 0 at every record.
The control is a target of one coordinate, which the net learns by turning its neurons there: D grows by 2 to 11 times.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._radial import CONTROL, CONTROL_TITLE, TITLE, TRAINING
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below
from simlab.figures.seeds import course
from simlab.figures.style import CONTROL_COLOUR, GUIDE, MEASURED, colours, panels, tick_at
from simlab.record.reader import Results

Floats = NDArray[np.float64]
MOST_GROWTH = 1.05  # of D over its start
LOSS_SHARE = 0.2  # of the loss at the start, at most left

_SPEC = """
observables = ["train_loss", "test_loss", "discretisation_error"]
[experiment]
kind = "radial_flow"
seed = 31
samples = {samples}
test_samples = 2000
records = {records}
"""
_SPEC += TRAINING
_SPEC += """\
zip = [["network.width", "data.dim"]]
seeds = {seeds}
"""


def _spec(pairs: list[tuple[int, int]], **more: int) -> str:
    return _SPEC.format(dims=[d for d, _ in pairs], widths=[m for _, m in pairs], **more)


DIMS = (5, 10, 20, 50)


class DiscretisationError(Claim):
    statement = (
        "The discretisation error of a first layer of poly(d) neurons does not grow along training on a radial target, "
        "d = 5 ... 50."
    )
    source = "Depth separation [S2] §5.2, part 3 (Ren, Zhou and Ge 2023)"
    expected = (
        "at every record, dimension, width and seed D at most 1.05 of its start, the loss fallen to a fifth or less"
    )
    quick = _spec([(d, 5 * d) for d in DIMS], samples=1000, records=9, steps=80, seeds=1)
    full = _spec([(d, k * d) for k in (3, 10, 24) for d in DIMS], samples=4000, records=21, steps=100, seeds=3)
    control = CONTROL

    def judge(self, results: Results) -> Judgement:
        growth, loss, rate = _growth(results), results["train_loss"], results["discretisation_rate"]
        largest, end = float(np.max(growth[..., 1:])), float(np.max(growth[..., -1]))
        learned = float(np.max(loss[..., -1] / loss[..., 0]))
        speed = float(np.max(rate / results["discretisation_error"][..., :1]))
        measured = (
            f"D at most {largest:.3g} of its start at any record, at most {end:.3g} at the end; (dD/dt)/D_0 at most "
            f"{speed:.2g}; training loss at most {learned:.2g} of its start; dimensions "
            f"{', '.join(map(str, np.unique(results['data.dim'])))}, {growth.shape[0]} widths"
        )
        numbers = {"largest": largest, "end": end, "largest_rate": speed, "loss": learned}
        short = f"D at most {largest:.3g} of its start, loss {learned:.2g}"
        return Judgement(bool(largest <= MOST_GROWTH and learned <= LOSS_SHARE), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        _courses(axes[0], results, TITLE)
        _courses(axes[1], control, CONTROL_TITLE)
        for source, mark, shade, text in (
            (results, "o", MEASURED, TITLE),
            (control, "s", CONTROL_COLOUR, "control"),
        ):
            for record, when in ((0, "start"), (-1, "end")):
                error = source["discretisation_error"][..., record].mean(axis=-1)
                face = shade if record else "none"
                axes[2].plot(source["network.width"], error, mark, ms=5, color=shade, mfc=face, label=f"{text}, {when}")
        axes[2].set(xscale="log", yscale="log", xlabel="width $m$", title="mean over seeds")
        axes[2].set_ylabel(r"$D = \mathrm{E}(F/\alpha - 1)^2$ on the sphere")
        if len(results["network.width"]) <= 4:
            tick_at(axes[2], results["network.width"])
        legend_below(axes[2], "")
        return fig


def _growth(results: Results) -> Floats:
    """D/D₀ : (width, seed, record)"""
    error = results["discretisation_error"]
    return np.asarray(error / error[..., :1])


def _courses(axis: Axes, results: Results, title: str) -> None:
    dims, widths = results["data.dim"].tolist(), results["network.width"].tolist()
    for k, (dim, width, shade) in enumerate(zip(dims, widths, colours(len(dims)), strict=True)):
        text = f"$d = {dim}$, $m = {width}$"
        curves = list(_growth(results)[k])
        course(axis, list(results["step"][k]), curves, "o-", color=shade, label=text, log=True, ms=3, lw=1.1)
    axis.axhline(1.0, color=GUIDE, lw=0.8)
    axis.set(yscale="log", xlabel="step of size $m$", ylabel="discretisation error $D_t/D_0$", title=title)
    axis.legend(frameon=False, fontsize=8, ncols=1 + (len(dims) > 4))
