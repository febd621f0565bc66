"""A network on labelled samples beside its own kernels: accuracies, and what else was recorded on the way. MATH §10.

One colour per point of the sweep. Of the first panel:

    curves              test accuracy (solid) and training accuracy (thin, dotted) of the network
    levels, dashed      ridge regression with the tangent kernel at the start, on the test samples
    levels, dash-dot    with the tangent kernel at the end
    levels, dash-dots   with the tangent kernel of infinite width, where it is known

A level's standard error is its bar at the right end. Further panels, of what the run records: quantiles of the margins
(the least solid), the largest eigenvalue of the Gauss–Newton part of the Hessian (exact also for ReLU), the
drift of the tangent kernel.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.figures.figure import Figure
from simlab.figures.seeds import course, courses
from simlab.figures.style import add_title, colours, panels
from simlab.figures.words import number, point_label, readable
from simlab.record.reader import Results
from simlab.statistics.sweeps import each_seed, points_of

LEVELS: dict[str, tuple[Any, str]] = {
    "start": ("--", "tangent kernel at the start, test"),
    "end": ("-.", "tangent kernel at the end, test"),
    "limit": ((0, (6, 1.5, 1, 1.5, 1, 1.5)), "infinite width, test"),
}
"""Kernel → line style of its level, and words."""
MORE = {
    "margin": "margin of training samples",
    "sharpness_gauss_newton": "sharpness (Gauss–Newton part)",
    "tangent_drift": readable("tangent_drift"),
}
"""Recorded names of the further panels → words."""
STYLES = ("-", "--", ":", "-.")
"""Styles of the quantiles, in their order; beyond these they repeat."""


class BesideKernels(Figure):
    """Accuracy of a network and of its kernels; margins, sharpness and drift where they are recorded."""

    needs = ("train_accuracy", "test_accuracy", "start_kernel_accuracy", "end_kernel_accuracy")
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"least_accuracy": 0.5})

    least_accuracy: float = Field(0.8, ge=0, lt=1, description="lower end of the axis of accuracies")
    title: str = Field("", description="above all panels")

    def draw(self, results: Results) -> Picture:
        more = [name for name in MORE if name in results]
        figure, axes = panels(1 + len(more))
        points = list(points_of(results, "length", without=("seed",)))
        for at, colour in zip(points, colours(len(points)), strict=True):
            self._accuracies(axes[0], results, at, colour)
            for axis, name in zip(axes[1:], more, strict=True):
                _along(axis, results, name, at, colour)
        _words(axes[0], points, [name for name in LEVELS if f"{name}_kernel_accuracy" in results])
        axes[0].set(ylabel="accuracy, %", ylim=(100 * self.least_accuracy, 100.5))
        for axis, name in zip(axes[1:], more, strict=True):
            axis.set(ylabel=MORE[name], yscale="log" if name == "sharpness_gauss_newton" else "linear")
            if name == "margin":
                for i, quantile in enumerate(results["quantile"].tolist()):
                    text = "least" if quantile == 0.0 else f"quantile {number(quantile)}"
                    axis.plot([], [], "k" + STYLES[i % len(STYLES)], lw=1.2, label=text)
                axis.legend(frameon=False, fontsize=8)
        for axis in axes:
            axis.set_xlabel("step")
        return add_title(figure, self.title)

    def _accuracies(self, axis: Axes, results: Results, at: dict[str, Any], colour: Any) -> None:
        """Curves of the network and levels of its kernels."""
        steps = each_seed(results, "step", at)
        for name, style, width in (("test_accuracy", "-", 1.6), ("train_accuracy", ":", 1.1)):
            course(axis, steps, [100 * y for y in each_seed(results, name, at)], style, color=colour, lw=width)
        end = max(float(values.max(initial=0.0)) for values in steps)
        for name, (style, _) in LEVELS.items():
            if f"{name}_kernel_accuracy" not in results:
                continue
            level = 100 * float(np.mean(results.select(f"{name}_kernel_accuracy", at)))
            spread = 100 * float(np.mean(results.select(f"{name}_kernel_accuracy_se", at)))
            axis.plot([0.0, end], [level, level], ls=style, lw=1.2, color=colour)
            axis.errorbar([end], [level], [spread], fmt="none", capsize=2, color=colour)


def _along(axis: Axes, results: Results, name: str, at: dict[str, Any], colour: Any) -> None:
    """One recorded trajectory of a point; of margins, every quantile."""
    if name != "margin":
        courses(axis, results, name, at, color=colour)
        return
    steps, found = each_seed(results, "step", at), each_seed(results, name, at)
    for i in range(found[0].shape[1]):
        course(axis, steps, [values[:, i] for values in found], STYLES[i % len(STYLES)], color=colour, lw=1.2)


def _words(axis: Axes, points: list[dict[str, Any]], kernels: list[str]) -> None:
    """The legend of the first panel: colours are points of the sweep, styles in black the learners."""
    for at, colour in zip(points, colours(len(points)), strict=True):
        if text := point_label(at.keys(), at.values()):
            axis.plot([], [], "-", color=colour, label=text)
    axis.plot([], [], "k-", lw=1.6, label="network, test")
    axis.plot([], [], "k:", lw=1.1, label="network, training")
    for name in kernels:
        axis.plot([], [], "k", ls=LEVELS[name][0], lw=1.2, label=LEVELS[name][1])
    axis.legend(frameon=False, fontsize=8, loc="lower right")
