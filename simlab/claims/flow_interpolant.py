"""Kernel gradient flow ends at the unregularised interpolant K(·,X)K^{-1}y. [S1 §5.1], MATH §5.

The flow of the squared loss is followed in closed form and by an implicit integrator up to a time at which the slowest
mode has died out. In the end it fits the training labels, and off them it agrees with the function solved for directly;
on the way the two computations agree. The control is a kernel of rank d < n, the linear one: its flow ends as well, but
at no interpolant.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims.claim import Claim, Judgement
from simlab.figures.seeds import courses
from simlab.figures.style import CONTROL_COLOUR, colours, panels
from simlab.record.reader import Results

LOSS_TOLERANCE = 1e-12
DISTANCE_TOLERANCE = 1e-6
METHODS_TOLERANCE = 1e-6
ROUNDING = 1e-29
"""Losses below this are rounding: the square of 2e-16, times the labels' scale."""

_SPEC = """
[experiment]
kind = "kernel_flow"
seed = 3
samples = {samples}
test_samples = 200
records = 31
first_time = 1e-2
last_time = {last}
[data]
kind = "uniform_sphere"
dim = 5
[target]
kind = "relu_teacher"
[kernel]
kind = "ntk"
[sweep]
"kernel.depth" = {depths}
seeds = {seeds}
"""


class FlowInterpolant(Claim):
    statement = (
        "Kernel gradient flow of the squared loss tends to the unregularised solution K(x,X)K^-1 y, which fits every "
        "training label."
    )
    source = "A kernel viewpoint [S1] §5.1"
    expected = (
        "at the last time training loss below 1e-12 of the first and test predictions within 1e-6 of K(x,X)K^-1 y "
        "(relative rms), closed form and integration within 1e-6 of the largest label scale at all times, every seed"
    )
    quick = _SPEC.format(samples=50, last=1e4, depths=[3, 5], seeds=3)
    full = _SPEC.format(samples=300, last=1e7, depths=[3, 4, 5, 10], seeds=10)
    control = ("sweep.kernel.depth=[1]",)

    def judge(self, results: Results) -> Judgement:
        losses, distances, apart = [], [], []
        for depth in results["kernel.depth"]:
            for seed in results["seed"]:
                at = {"kernel.depth": depth, "seed": seed}
                loss, distance = results.select("train_loss", at), results.select("test_distance", at)
                losses.append(float(loss[-1] / loss[0]))
                distances.append(float(distance[-1] / distance[0]))
                # The loss at time 0, f = 0, is half the mean square of the labels.
                apart.append(float(results.select("methods_apart", at).max() / np.sqrt(2 * loss[0])))
        holds = (
            max(losses) <= LOSS_TOLERANCE and max(distances) <= DISTANCE_TOLERANCE and max(apart) <= METHODS_TOLERANCE
        )
        measured = (
            f"training loss at most {max(losses):.1e} of the first, test predictions {max(distances):.1e} from the "
            f"solution, closed form and integration {max(apart):.1e} apart, over {len(losses)} flows"
        )
        numbers = {"loss_over_first": losses, "distance_over_first": distances, "methods_apart": apart}
        short = f"{max(distances):.1e} from the solution, loss {max(losses):.1e}"
        return Judgement(bool(holds), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (left, middle, right) = panels(3)
        depths = results["kernel.depth"].tolist()
        shades = colours(len(depths))
        lines = [(results, depth, shade, "-", f"depth {depth}") for depth, shade in zip(depths, shades, strict=True)]
        lines.append((control, control["kernel.depth"].tolist()[0], CONTROL_COLOUR, "--", "control: linear"))
        for source, depth, colour, style, label in lines:
            at = {"kernel.depth": depth}
            for axis, name in ((left, "train_loss"), (middle, "test_distance"), (right, "methods_apart")):
                courses(axis, source, name, at, style, x="time", first=1, color=colour, label=label, log=True)
            one = at | {"seed": 0}
            t, dots = source.select("time", one)[1::3], source.select("train_loss_integrated", one)[1::3]
            mark = "o" if source is results else "x"
            left.plot(t, np.where(dots > ROUNDING, dots, np.nan), mark, ms=3.5, color=colour)
        for axis in (left, middle, right):
            axis.set(xscale="log", yscale="log", xlabel="time $t$")
        left.axhspan(1e-34, ROUNDING, color="0.9", lw=0, zorder=0, label="rounding (no dots drawn)")
        left.set(ylabel="training loss", ylim=(1e-34, 1e2), title="lines: closed form, dots: integrated, first seed")
        middle.set(ylabel=r"distance to the limit, rms of $f_t - f_\infty$")
        middle.set_title(r"test inputs; $f_\infty = K(\cdot,X)K^{-1}y$, control: least squares")
        right.set(ylabel="largest difference", title="closed form − integrated")
        for axis in (left, middle, right):
            axis.legend(frameon=False, fontsize=8)
        return fig
