"""F is learned before αG(F), and each then cleans the other: the parts of the error along training. [S3 §7], MATH §9.

The net's output is projected on F and on αG(F) along SGD (`simlab.observables.hierarchy`). F is half learned long
before αG(F) is; while αG(F) is being learned what is left of F, and the rest that is neither, fall on: each layer
cleans the signal that the other sees. In the control the second layer stays as drawn: αG(F) is never half learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims.claim import Claim, Judgement
from simlab.figures.seeds import courses
from simlab.figures.style import BLUE, BROWN, GREY, GUIDE, panels
from simlab.record.reader import Results

LEAST_DELAY = 2.0  # of half learning αG(F) over that of F, in steps
CLEANER_SHARE = 0.5  # of the error beside αG(F) when this is half learned, at most left at the end

_SPEC = """
observables = ["train_loss", "test_error", "hierarchy"]
[experiment]
kind = "gradient_flow"
seed = 1
samples = {samples}
test_samples = 4000
dtype = "float32"
records = 61
spacing = "log"
[data]
kind = "boolean_cube"
dim = {dim}
[target]
kind = "allen_zhu_li"
pairs = {pairs}
group = 4
alpha = 0.3
[network]
kind = "resnet3"
width = {width}
outputs = {pairs}
[flow]
kind = "sgd"
batch = 50
step = {step}
momentum = 0.9
weight_decay = 2.5e-4
steps = {steps}
schedule = "piecewise"
drop_steps = [{half}]
drop_factors = [0.1]
[sweep]
seeds = {seeds}
"""


class SimplePartFirst(Claim):
    statement = (
        "A three-layer ResNet learns the simple part F first and the composed part αG(F) after it; while it learns the "
        "second its error in the first falls on."
    )
    source = "ResNet beyond kernels [S3] §7 (Allen-Zhu and Li 2019)"
    expected = (
        "in every seed αG(F) is half learned after F, by the median at least twice as late; from then on the error "
        "beside αG(F) falls to a half or less"
    )
    quick = _SPEC.format(samples=1000, dim=20, pairs=4, width=100, step=0.6, steps=6000, half=4000, seeds=5)
    full = _SPEC.format(samples=1500, dim=30, pairs=8, width=200, step=0.6, steps=24000, half=16000, seeds=5)
    control = ("network.trained=first",)

    def judge(self, results: Results) -> Judgement:
        rows = _seeds(results)
        ratios = [row["composed"] / max(row["simple"], 1.0) for row in rows]
        later, earliest = float(np.median(ratios)), min(ratios)
        reached = all(np.isfinite(row["composed"]) for row in rows)
        cleaner = float(np.mean([row["beside_end"] for row in rows]) / np.mean([row["beside_then"] for row in rows]))
        holds = reached and earliest > 1.0 and later >= LEAST_DELAY and cleaner <= CLEANER_SHARE
        words = f"{later:.1f} times as late as F, at least {earliest:.1f} times," if reached else "not in every seed"
        measured = (
            f"αG(F) half learned {words} ({np.mean([row['learned'] for row in rows]):.2f} of it at the end); the error "
            f"beside it then falls to {cleaner:.2f}"
        )
        short = f"half learned {later:.1f} times as late as F" if reached else "not half learned in every seed"
        return Judgement(
            bool(holds), measured, {"seeds": rows, "later": later if reached else None, "cleaner": cleaner}, short
        )

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(4, columns=2)
        _course((axes[0], axes[1]), results, "both layers trained")
        _course((axes[2], axes[3]), control, "control: second layer as drawn")
        return fig


def _half_time(steps: NDArray[Any], part: NDArray[Any]) -> float:
    """The first recorded step at which half of it is learned; infinite if never."""
    reached = np.flatnonzero(part >= 0.5)
    return float(steps[reached[0]]) if reached.size else float("inf")


def _seeds(results: Results) -> list[dict[str, float]]:
    rows = []
    for seed in results["seed"].tolist():
        at = {"seed": seed}
        steps = results.select("step", at)
        simple, composed = (results.select(name, at) for name in ("learned_simple", "learned_composed"))
        beside = results.select("error_simple", at) + results.select("error_rest", at)
        first, second = _half_time(steps, simple), _half_time(steps, composed)
        now = beside[np.flatnonzero(steps == second)[0]] if np.isfinite(second) else beside[-1]
        rows.append(
            {
                "simple": first,
                "composed": second,
                "beside_then": float(now),
                "beside_end": float(beside[-1]),
                "learned": float(composed[-1]),
            }
        )
    return rows


def _course(axes: tuple[Axes, Axes], results: Results, title: str) -> None:
    learned, errors = axes
    where = "control: " if title.startswith("control") else ""
    composed = r"$\alpha G(F)$"
    parts = (("simple", BLUE, "-", "$F$"), ("composed", BROWN, "--", composed), ("rest", GREY, ":", "the rest"))
    for name, colour, style, text in parts:
        if name != "rest":
            courses(learned, results, f"learned_{name}", {}, style, color=colour, label=text, lw=1.8)
        courses(errors, results, f"error_{name}", {}, style, color=colour, label=text, log=True, lw=1.8)
    learned.axhline(0.5, color=GUIDE, lw=0.8)
    learned.set(ylabel="part learned", title=title, ylim=(-0.3, 1.3))
    errors.set(yscale="log", ylabel="error in this part", title=f"{where}parts of the error")
    for axis in axes:
        axis.set(xscale="symlog", xlabel="step", xlim=(0, None))
        axis.legend(frameon=False, fontsize=8)
