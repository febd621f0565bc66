"""The learning rate decides: just below divergence SGD learns αG(F), with small steps it does not. [S3 §6], MATH §9.

The ResNet of `resnet_beyond_kernels` over a range of step sizes, the number of steps being the same. Small steps leave
it near the line α² E‖G(F)‖² of having learned F alone; steps within a factor of a few of those that diverge learn αG(F)
as well, and larger ones diverge. In the control the second layer stays as drawn, and no step size helps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from simlab.claims import _learners
from simlab.claims.claim import Claim, Judgement
from simlab.figures.seeds import band
from simlab.figures.style import CONTROL_COLOUR, MEASURED, panels
from simlab.record.reader import Results

SMALL_STEP_SHARE = 0.9  # of the line, at least left by the smallest step
EDGE_FACTOR = 5.0  # at most, from the best step to the smallest that diverges


class LearningRateDecides(Claim):
    statement = (
        "With steps just below divergence SGD on a three-layer ResNet learns αG(F) too; with small steps, and as many "
        "of them, it learns F alone."
    )
    source = "ResNet beyond kernels [S3] §6 (Allen-Zhu and Li 2019)"
    expected = (
        "error above 0.9 of the line k·α² at the smallest step, at most 0.7 of it at the best, which is within a "
        "factor of 5 of the smallest step that diverges"
    )
    quick = _learners.spec(
        _learners.descents("residual", (0.01, 0.03, 0.1, 0.3, 0.6, 0.9, 1.2, 1.7, 2.4)),
        _learners.SMALL,
        seeds=5,
    )
    full = _learners.spec(
        _learners.descents("residual", (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0)),
        _learners.PUBLISHED,
        seeds=5,
    )
    control = ("network.trained=first", "sweep.seeds=3")

    def judge(self, results: Results) -> Judgement:
        found, level = _rates(results), _learners.line(results)
        steps, error = found["steps"], found["errors"].mean(axis=1)
        ended = np.flatnonzero(found["diverged"] > 0)
        edge = float(steps[ended[0]]) if ended.size else float("inf")
        stable = np.isfinite(error) & (steps < edge)
        best = int(np.argmin(np.where(stable, error, np.inf)))
        smallest = float(error[0])
        holds = (
            smallest >= SMALL_STEP_SHARE * level
            and error[best] <= _learners.LEARNED_SHARE * level
            and steps[best] >= edge / EDGE_FACTOR
        )
        measured = (
            f"error over line: {smallest / level:.2f} at step {steps[0]:g}, {error[best] / level:.2f} at "
            f"{steps[best]:g}, where {found['composed'][best].mean():.2f} of αG(F) is learned; the first step to "
            f"diverge is {edge:g}"
        )
        numbers = {
            "line": level, "steps": steps.tolist(), "errors": error.tolist(), "best": float(steps[best]),
            "composed": found["composed"].mean(axis=1).tolist(), "diverged": found["diverged"].tolist(),
        }  # fmt: skip
        short = f"error/line {smallest / level:.2f} at step {steps[0]:g}, {error[best] / level:.2f} at {steps[best]:g}"
        return Judgement(bool(holds), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (left, right) = panels(2)
        _draw((left, right), results, MEASURED, "o-", "both layers trained")
        _draw((left, right), control, CONTROL_COLOUR, "s--", "control: second layer as drawn")
        left.axhline(_learners.line(results), color="k", ls=":", lw=1.4, label="$F$ alone")
        left.set(
            yscale="log",
            ylabel=r"test error $\mathrm{E}\|f - H\|^2$",
            title="small steps learn $F$ alone (shaded: diverges)",
        )
        right.set(ylabel=r"part of $\alpha G(F)$ learned", title=r"what of $\alpha G(F)$ is learned")
        for axis in (left, right):
            axis.set(xscale="log", xlabel=r"step size $\eta$ of half the mean square")
        left.legend(frameon=False, fontsize=8, loc="lower left")
        return fig


def _rates(results: Results) -> dict[str, Any]:
    """Step sizes ascending, mean test error of each (NaN where a seed diverged), and the shares that diverged."""
    order = np.argsort(results["flow.step"])
    return {
        "steps": np.asarray(results["flow.step"])[order],
        "errors": _learners.table(results, "test_error")[order, 0],
        "composed": _learners.table(results, "learned_composed")[order, 0],
        "diverged": _learners.table(results, "diverged")[order, 0].mean(axis=1),
    }


def _draw(axes: tuple[Axes, Axes], results: Results, colour: str, style: str, label: str) -> None:
    found = _rates(results)
    for axis, values in zip(axes, (found["errors"], found["composed"]), strict=True):
        band(axis, found["steps"], values, colour)
        axis.plot(found["steps"], values.mean(axis=1), style, ms=4, lw=1.3, color=colour, label=label)
        gone = found["steps"][found["diverged"] > 0]
        if gone.size:
            axis.axvspan(gone[0], found["steps"][-1] * 1.2, color=colour, alpha=0.08, lw=0)
