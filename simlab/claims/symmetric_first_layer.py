"""Spherically symmetric neurons make the first layer α‖x‖. MATH §8.

F(x) = (1/m) Σ ‖v_i‖σ(v_i·x) over m drawn neurons. The root mean square of F/(α‖x‖) − 1 over the directions of x,
α = (C_Γ/√d) mean ‖v‖², is that of a mean of m independent terms:

    {ρ[1/(2C_Γ²) − 1]/m}^{1/2},      ρ = E‖v‖⁴/(E‖v‖²)² = 1 for equal norms, 1 + 2/d for normal vectors.

At the start that is a prediction without a free constant; after training of both layers, which moves every neuron along
itself to first order, the rate is the same: samples in frames, stratified in radius, so that they do not turn the
neurons one way. The control stretches one coordinate of v threefold: F tends to another
function, away from α‖x‖.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._numbers import exponent_numbers, short_exponents, short_range
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line
from simlab.figures.style import BLUE, BROWN, CONTROL_COLOUR, GREEN, PURPLE, panels, tick_at
from simlab.record.reader import Results
from simlab.sphere.mean_relu import c_gamma
from simlab.statistics.power_law import PowerLaw, fit_power
from simlab.statistics.sweeps import setting

Floats = NDArray[np.float64]
RATE, TOLERANCE = -0.5, 0.1
SIZE_TOLERANCE = 0.12  # five root seeds of the quick size scatter by 0.04 to 0.05
LEAST_GROWTH = 1.2  # α at the end over α at the start

_SPEC = """
observables = ["first_layer"]
[experiment]
kind = "gradient_flow"
seed = 3
samples = {samples}
test_samples = {tests}
records = 2
[data]
kind = "ball_fourier"
dim = 10
radii = "stratified"
directions = "frames"
[target]
kind = "radial_relu"
[network]
kind = "three_layer_mean_field"
[flow]
kind = "gradient_descent"
steps = 20
step = 0.2
step_unit = "particle"
[sweep]
"network.norms" = ["random", "equal"]
"network.width" = {widths}
seeds = {seeds}
"""


class SymmetricFirstLayer(Claim):
    statement = (
        "Neurons of a spherically symmetric law make the first layer F(x) = alpha |x|: at width m it differs by the "
        "m^(-1/2) of a mean of m independent terms, before and after training."
    )
    source = "Depth separation [S2] §5.2 (Ren, Zhou and Ge 2023)"
    expected = (
        "root mean square of F/(alpha|x|) - 1 ~ m^(-1/2): exponents within 0.1 at the start and at the end; its size "
        "at the start within 12 % of the predicted one, for random and for equal norms; alpha grows by a fifth or more"
    )
    quick = _SPEC.format(samples=800, tests=300, widths=[40, 160, 640], seeds=16)
    full = _SPEC.format(samples=4000, tests=2000, widths=[50, 100, 200, 400, 800, 1600, 3200], seeds=40)
    control = ("network.stretch=3.0", "sweep.seeds=4")

    def judge(self, results: Results) -> Judgement:
        widths, dim = results["network.width"], setting(results, "data", "dim")
        words, numbers, good = [], {}, []
        fits: list[PowerLaw | None] = []
        found: list[float] = []
        for norms in results["network.norms"].tolist():
            off = _off(results, norms)
            powers = [fit_power(widths, some) for some in off]
            sizes = np.sqrt(np.mean(off[0] ** 2, axis=1)) / _predicted(norms, dim, widths)
            size = float(np.sqrt(np.mean(sizes**2)))
            alpha = results.select("alpha", {"network.norms": norms})[-1].mean(axis=0)
            grown = float(alpha[-1] / alpha[0])
            good.append(all(p is not None and abs(p.exponent - RATE) <= TOLERANCE for p in powers))
            good.append(abs(size - 1.0) <= SIZE_TOLERANCE and grown >= LEAST_GROWTH)
            fits += powers
            found.append(size)
            words.append(
                f"{norms} norms: exponents {powers[0]} at the start, {powers[1]} at the end, size {size:.3f} of the "
                f"predicted, alpha grew {grown:.2f}-fold"
            )
            numbers[norms] = {
                "exponents": [exponent_numbers(p) for p in powers],
                "size": size,
                "sizes": sizes.tolist(),
                "growth": grown,
            }
        short = f"exponents {short_exponents(fits)}, size {short_range(found)}"
        return Judgement(bool(all(good)), "; ".join(words), numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        widths = results["network.width"].tolist()
        at = {"network.norms": "random", "seed": results["seed"][0]}
        r = results.select("group_radius", at | {"network.width": widths[-1]})
        for source, width, mark, colour in (
            (results, widths[0], "o", BLUE),
            (results, widths[-1], "s", BROWN),
            (control, widths[-1], "x", CONTROL_COLOUR),
        ):
            F = source.select("first_layer_by_radius", at | {"network.width": width})[-1]
            words = "control: " if source is control else ""
            axes[0].plot(r, F, mark, ms=5, mfc="none", color=colour, label=f"{words}$m = {width}$")
        axes[0].plot(r, r, "k-", lw=0.8, label=r"$\|x\|$")
        axes[0].set(
            xscale="log",
            yscale="log",
            xlabel=r"$\|x\|$ (median of a tenth)",
            ylabel=r"$F/\alpha$",
            title="one draw, at the end",
        )
        axes[0].legend(frameon=False, fontsize=8)
        _lines(axes[1], results, "spherically symmetric neurons")
        _lines(axes[2], control, "control: one coordinate stretched")
        return fig


def _off(results: Results, norms: str) -> Floats:
    """(2, widths, seeds): root mean square of F/(α‖x‖) − 1 over the test inputs, at the start and at the end."""
    at = {"network.norms": norms}
    mean, std = results.select("first_layer_mean", at), results.select("first_layer_std", at)
    return np.moveaxis(np.hypot(mean - 1.0, std), -1, 0)


def _predicted(norms: str, dim: int, widths: NDArray[np.int64]) -> Floats:
    fourth = 1.0 + 2.0 / dim if norms == "random" else 1.0
    found: Floats = np.sqrt(fourth * (0.5 / c_gamma(dim) ** 2 - 1.0) / widths)
    return found


def _lines(axis: Axes, results: Results, title: str) -> None:
    widths, dim = results["network.width"], setting(results, "data", "dim")
    for i, norms in enumerate(results["network.norms"].tolist()):
        start, end = _off(results, norms)
        (first, second), marks = ((BLUE, BROWN), ("o-", "s--")) if i == 0 else ((GREEN, PURPLE), ("^-", "D--"))
        power_line(axis, widths, start, first, f"{norms} norms, start", marks[0])
        power_line(axis, widths, end, second, "end", marks[1])
        style = "k--" if norms == "random" else "k:"
        axis.plot(widths, _predicted(norms, dim, widths), style, lw=1, label=f"predicted, {norms} norms")
    axis.set(xlabel="width $m$", ylabel=r"rms of $F/(\alpha\|x\|) - 1$", title=title)
    tick_at(axis, widths)
    legend_below(axis, "fitted exponents")
