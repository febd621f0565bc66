"""What the claims about nets and their rivals share: specs of searched settings, and the best by validation. MATH §9.

A *setting* is a learner with its step size and weight decay; settings advance together, one dimension of the sweep.
Of each learner the setting with the least validation error, averaged over seeds, counts. Steps are those of half the
mean square: where learning rates are stated for the mean square itself, they are half of these, weight decays twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from simlab.figures.seeds import band
from simlab.figures.style import BLUE, BROWN, colours, tick_at
from simlab.record.reader import Results

Floats = NDArray[np.float64]
ERROR = r"test error $\mathrm{E}\|f - H\|^2$"

SPEC = """
[experiment]
kind = "rivals"
seed = {seed}
samples = {samples}
validation_samples = 1000
test_samples = 2000
ridges = {ridges}
dtype = "float32"
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
outputs = {pairs}
width = {width}
[flow]
kind = "sgd"
batch = 50
momentum = 0.9
schedule = "piecewise"
steps = {steps}
drop_steps = [{half}]
drop_factors = [0.1]
[sweep]
"experiment.label" = {labels}
"experiment.learner" = {learners}
"network.form" = {forms}
"flow.step" = {step_sizes}
"flow.weight_decay" = {decays}
zip = [["experiment.label", "experiment.learner", "network.form", "flow.step", "flow.weight_decay"]]
{more}
seeds = {seeds}
"""
SMALL = {"samples": 600, "dim": 20, "pairs": 4, "width": 100, "steps": 4800}
"""Four products of pairs in dimension 20, G the product of all four: a quarter of a second per net."""
PUBLISHED = {"samples": 1000, "dim": 30, "pairs": 8, "width": 200, "steps": 16000}
"""The experiment of Allen-Zhu and Li: 800 epochs in batches of 50."""

LEARNED_SHARE = 0.7
"""An error up to this share of the line means that part of αG(F) is learned, clearly."""

Setting = tuple[str, str, float, float]
"""Learner, form, step size, weight decay."""


def spec(
    settings: Sequence[Setting], size: dict[str, int], seeds: int, seed: int = 1, more: str = "", **other: Any
) -> str:
    """The TOML text of a sweep over settings.

    size: samples, dim, pairs, width and steps, such as `SMALL`.
    seeds: repetitions.
    seed: root seed.
    more: further axes of the sweep.
    other: further fields of the text, such as ridges.
    """
    learners, forms, step_sizes, decays = (list(each) for each in zip(*settings, strict=True))
    labels = [f"{learner} {form} {step:g} {decay:g}" for learner, form, step, decay in settings]
    fields = {"ridges": [1e-3, 1e-2, 1e-1]} | size | other
    return SPEC.format(
        labels=labels, learners=learners, forms=forms, step_sizes=step_sizes, decays=decays, seeds=seeds, seed=seed,
        more=more, half=fields["steps"] // 2, **fields,
    )  # fmt: skip


def descents(form: str, steps: Sequence[float], decays: Sequence[float] = (2.5e-4,)) -> list[Setting]:
    """A net of this form trained by SGD, with all combinations of step size and weight decay."""
    return [("descent", form, step, decay) for step in steps for decay in decays]


def machines(forms: Sequence[str]) -> list[Setting]:
    """The tangent kernel and the last layer's kernel of nets of these forms; they take no steps."""
    return [(learner, form, 1.0, 0.0) for form in forms for learner in ("tangent", "last")]


@dataclass(frozen=True)
class Best:
    """A learner at the setting that validation chose.

    learner: "descent", or one of the kernel machines "tangent" and "last".
    form: of the network.
    width: of the network; 0 where the sweep has one only.
    step, decay: step size and weight decay.
    errors: (seeds,) test errors.
    composed: (seeds,) share of αG(F) that was learned.
    """

    learner: str
    form: str
    width: int
    step: float
    decay: float
    errors: Floats
    composed: Floats

    @property
    def error(self) -> float:
        """Mean over seeds."""
        return float(self.errors.mean())

    @property
    def name(self) -> str:
        """What stands beside its line in a figure."""
        nets = {"residual": "ResNet", "plain": "three layers", "two_layer": "two layers"}
        how = {"descent": "", "tangent": ", tangent kernel", "last": ", last layer"}
        return nets[self.form] + how[self.learner]

    def numbers(self) -> dict[str, Any]:
        """What the verdict keeps, ready for JSON."""
        return {
            "name": self.name, "width": self.width, "step": self.step, "weight_decay": self.decay, "error": self.error,
            "errors": self.errors.tolist(), "learned_composed": float(self.composed.mean()),
        }  # fmt: skip


def line(results: Results) -> float:
    """α² E‖G(F)‖²: the error of a learner of F alone."""
    return float(np.mean(results["composed_power"]))


def table(results: Results, name: str) -> Floats:
    """A recorded name as (settings, widths, seeds)."""
    settings, widths = len(results["flow.step"]), len(results.get("network.width", [0]))
    return np.asarray(results[name], dtype=np.float64).reshape(settings, widths, -1)


def best(results: Results) -> list[Best]:
    """The best setting of each learner at each width, in the order of the sweep."""
    test, composed = table(results, "test_error"), table(results, "learned_composed")
    score = np.nan_to_num(table(results, "validation_error"), nan=np.inf).mean(axis=2)
    who = list(zip(results["experiment.learner"].tolist(), results["network.form"].tolist(), strict=True))
    widths = results["network.width"].tolist() if "network.width" in results else [0]
    found = []
    for pair in dict.fromkeys(who):
        own = [i for i, other in enumerate(who) if other == pair]
        for w, width in enumerate(widths):
            i = min(own, key=lambda i: float(score[i, w]))
            step, decay = float(results["flow.step"][i]), float(results["flow.weight_decay"][i])
            found.append(Best(*pair, width, step, decay, test[i, w], composed[i, w]))
    return found


def bars(axis: Axes, rows: Sequence[Best], level: float, title: str) -> None:
    """Errors by learner, one point per seed, with the line of learning F alone."""
    for i, row in enumerate(rows):
        shade, mark = (BLUE, "o") if row.learner == "descent" else (BROWN, "s")
        axis.barh(i, row.error, color=shade, alpha=0.35)
        axis.plot(row.errors, np.full(row.errors.size, i), mark, ms=3, color=shade)
    axis.axvline(level, color="k", ls="--", lw=1)
    axis.text(level, -0.75, " $F$ alone", fontsize=8, va="center", ha="left")
    axis.set(xscale="log", xlabel=ERROR, title=title, ylim=(len(rows) - 0.4, -1.1))
    axis.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=8)


def against_width(axis: Axes, rows: Sequence[Best], level: float, title: str) -> None:
    """Errors against the width, one line per learner: means over seeds with a band."""
    names = list(dict.fromkeys(row.name for row in rows))
    for name, shade, mark in zip(names, colours(len(names)), cycle("os^Dv"), strict=False):
        some = [row for row in rows if row.name == name]
        widths, style = [row.width for row in some], "-" if some[0].learner == "descent" else "--"
        band(axis, widths, np.stack([row.errors for row in some]), shade)
        axis.plot(widths, [row.error for row in some], mark + style, ms=4, lw=1.2, color=shade, label=name)
    axis.axhline(level, color="k", ls=":", lw=1.2)
    axis.set(xscale="log", yscale="log", xlabel="width $m$", ylabel=ERROR, title=title)
    tick_at(axis, sorted({row.width for row in rows}))
