"""Under training the loss on a radial target is that of the symmetrised net and that of f about it, no more. MATH §8.

f̃(x) = E f(x') over ‖x'‖ = ‖x‖. As f* − f̃ depends on the radius alone and f̃ − f has mean 0 over every sphere, they are
orthogonal, whatever the weights: ½E(f* − f)² = ½E(f* − f̃)² + ½E(f̃ − f)². Measured on test samples at every record,
the cross term is 0 to its standard error. The control is a target of one coordinate, for which it is not.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._radial import CONTROL, CONTROL_TITLE, TITLE, TRAINING
from simlab.claims.claim import Claim, Judgement
from simlab.figures.seeds import courses
from simlab.figures.style import BLUE, BROWN, CONTROL_COLOUR, GUIDE, MEASURED, panels
from simlab.record.reader import Results
from simlab.statistics.means import centre
from simlab.statistics.sweeps import each_seed

Floats = NDArray[np.float64]
MOST_ERRORS, TYPICAL_ERRORS = 4.5, 1.5  # standard errors of the cross term: at any record, in the root mean square
SUM_TOLERANCE = 0.1  # of the two parts together, relative to the loss
LOSS_SHARE = 0.5  # of the loss at the start, at most left

_SPEC = """
[[observables]]
kind = "loss_split"
directions = {directions}
[experiment]
kind = "radial_flow"
seed = 21
samples = {samples}
test_samples = {tests}
records = {records}
"""
_SPEC += TRAINING
_SPEC += """\
zip = [["data.dim", "network.width"]]
seeds = {seeds}
"""


class LossSplit(Claim):
    statement = (
        "Along training of a three-layer net on a radial target its loss is that of its symmetrisation and that of its "
        "deviation from it: the cross term vanishes to sampling error."
    )
    source = "Depth separation [S2] §5.2, equation (3) (Ren, Zhou and Ge 2023)"
    expected = (
        "over all dimensions, seeds and records the cross term within 4.5 of its standard errors, 1.5 in the root mean "
        "square; the sum of the two parts within 0.1 of the loss, in the mean; the loss falls to half of its start or "
        "less"
    )
    quick = _SPEC.format(
        samples=1000, tests=1500, directions=400, records=4, steps=45, dims=[5, 10], widths=[50, 100], seeds=2
    )
    full = _SPEC.format(
        samples=4000,
        tests=5000,
        directions=1000,
        records=11,
        steps=100,
        dims=[5, 10, 20],
        widths=[50, 100, 200],
        seeds=5,
    )
    control = CONTROL

    def judge(self, results: Results) -> Judgement:
        pulls = _pulls(results)
        parts = results["split_radial"] + results["split_spread"]
        loss = results["split_loss"]
        largest, typical = float(np.max(np.abs(pulls))), float(np.sqrt(np.mean(pulls**2)))
        apart = float(np.mean(np.abs(parts / loss - 1.0)))
        fallen = float(np.max(loss[..., -1] / loss[..., 0]))
        holds = largest <= MOST_ERRORS and typical <= TYPICAL_ERRORS and apart <= SUM_TOLERANCE and fallen <= LOSS_SHARE
        measured = (
            f"cross term at most {largest:.2g} standard errors, {typical:.2g} in the root mean square, over "
            f"{pulls.size} records; the two parts add up to the loss within {apart:.2g} of it in the mean; it fell to "
            f"{fallen:.2g} of its start or less"
        )
        numbers = {"largest": largest, "root_mean_square": typical, "relative": apart, "loss": fallen}
        short = f"cross term at most {largest:.2g} standard errors"
        return Judgement(bool(holds), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        _courses(axes[0], results, TITLE)
        _courses(axes[1], control, CONTROL_TITLE)
        for source, mark, shade, text in (
            (results, "o", MEASURED, TITLE),
            (control, "s", CONTROL_COLOUR, "control"),
        ):
            for k, rows in enumerate(_pulls(source).reshape(-1, source["step"].shape[-1])):
                axes[2].plot(source["step"][0, 0], np.abs(rows), mark, ms=4, color=shade, label=None if k else text)
        axes[2].axhline(MOST_ERRORS, color=GUIDE, lw=1, ls="--", label=f"allowed: {MOST_ERRORS:g}")
        axes[2].set(yscale="log", ylim=(1e-2, None), xlabel="step", title="all points and seeds")
        axes[2].set_ylabel("|cross term| / standard error")
        axes[2].legend(frameon=False, fontsize=8)
        return fig


def _pulls(results: Results) -> Floats:
    """The cross term in its standard errors: (dimension, seed, record)"""
    return np.asarray(results["split_cross"] / results["split_cross_error"])


_PARTS = {
    "split_radial": r"$\frac{1}{2}\mathrm{E}(f^* - \tilde f)^2$",
    "split_spread": r"$\frac{1}{2}\mathrm{E}(\tilde f - f)^2$",
}


def _courses(axis: Axes, results: Results, title: str) -> None:
    """The parts and the loss in the largest dimension."""
    dim = results["data.dim"][-1]
    at = {"data.dim": dim}
    for (name, text), shade, mark in zip(_PARTS.items(), (BLUE, BROWN), "s^", strict=True):
        courses(axis, results, name, at, mark + "-", color=shade, label=text, log=True, ms=3)
    loss = r"loss $\frac{1}{2}\mathrm{E}(f^* - f)^2$"
    courses(axis, results, "split_loss", at, "o-", color="k", label=loss, log=True, ms=5, mfc="none")
    parts = zip(*(each_seed(results, name, at) for name in _PARTS), strict=True)
    sums = [np.sum(pair, axis=0) for pair in parts]
    axis.plot(each_seed(results, "step", at)[0], centre(np.stack(sums, axis=1), True), "k--", lw=1, label="sum of both")
    axis.set(yscale="log", xlabel="step", ylabel="loss", title=f"{title}, $d = {dim}$")
    axis.legend(frameon=False, fontsize=8)
