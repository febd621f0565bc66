"""Wide three-layer nets follow the α-flow, the system of infinite width. MATH §8.

f = (1/m₂) Σ σ(w_j F + b_j), F = (1/m) Σ ‖v_i‖σ(v_i·x), gradient flow of both layers in the time of particles on
ReLU(1 − ‖x‖); beside it the α-flow from the same (w, b). Its largest relative distance to α_t = (C_Γ/√d) mean ‖v‖²,

- from the α₀ of the law of v, is the noise of a mean of m squares of norms: m^{−1/2};
- from the α₀ of the drawn v, is 1/m: F/(α‖x‖) − 1 is of order m^{−1/2} but of mean 0 over the directions, so that
  α̇ = (4C_Γ/√d) E[S₂F] feels its square alone.

The second is a small number, below which everything else must stay. Directions: the first-order term is a mean over
the samples, (mn)^{−1/2} times what the frames leave of it (harmonics of even degree from 4 on; linear and quadratic
ones cancel within each). Radii on quantiles: 1/n. Together about 5e-4 at n = 300 (what 800 neurons are off
beyond 1/m, as squares, in one setting). If all of it falls like 1/n, which was not measured, that is 2.5e-4 beside 1e-3
at the widest of the quick size and 2e-5 beside 1e-4 at that of the full one. The solver: in the quick size's tolerance,
one ten times smaller changed the distances by less than 2 % (widths 50 and 400).

The control stretches one coordinate of v threefold: the law is not spherically symmetric, F is not α‖x‖ at any width.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._numbers import exponent_numbers, short_exponent
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.seeds import courses
from simlab.figures.style import BLUE, BROWN, colours, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

Floats = NDArray[np.float64]
# start of the α-flow → (claimed exponent, tolerance), its name in the legend
RATES = {"limit": (-0.5, 0.15), "matched": (-1.0, 0.25)}
WORDS = {"limit": "α₀ of the law", "matched": "α₀ matched"}
LEAST_GROWTH = 1.2  # α at the end over α at the start

_SPEC = """
observables = [{{ kind = "first_layer", groups = 1 }}]
[experiment]
kind = "radial_flow"
seed = 3
samples = {samples}
test_samples = 1
records = {records}
[data]
kind = "ball_fourier"
dim = 3
radii = "stratified"
directions = "frames"
[target]
kind = "radial_relu"
[network]
kind = "three_layer_mean_field"
outer_width = 5
[flow]
kind = "ode"
end_time = 5.0
unit = "particle"
rtol = {rtol}
atol = {atol}
[sweep]
"network.width" = {widths}
seeds = {seeds}
"""


class AlphaFlow(Claim):
    statement = (
        "The alpha-flow, one-dimensional in the radius, describes wide three-layer nets: along training the relative "
        "error of alpha falls like width^(-1/2) from random norms, like 1/width where alpha at the start is matched."
    )
    source = "Depth separation [S2] §5.2 (Ren, Zhou and Ge 2023)"
    expected = (
        "exponents in the width of the largest relative distance of alpha to the alpha-flow's: -0.5 within 0.15 "
        "started from the law's alpha, -1 within 0.25 from the particles' own; alpha grows by a fifth or more"
    )
    quick = _SPEC.format(samples=600, records=3, rtol=1e-4, atol=1e-6, widths=[25, 75, 225, 675], seeds=20)
    full = _SPEC.format(samples=8192, records=11, rtol=1e-5, atol=1e-7, widths=[100, 400, 1600, 6400], seeds=24)
    control = ("network.stretch=3.0", "sweep.seeds=4")

    def judge(self, results: Results) -> Judgement:
        powers = _powers(results)
        good = [
            power is not None and abs(power.exponent - rate) <= tolerance
            for power, (rate, tolerance) in zip(powers.values(), RATES.values(), strict=True)
        ]
        alpha = results["alpha"][-1].mean(axis=0)
        grown = float(alpha[-1] / alpha[0])
        widest = {start: float(_distances(results, start)[-1].mean()) for start in RATES}
        measured = (
            f"exponents {powers['limit']} from the law's alpha, {powers['matched']} from the particles' own; at width "
            f"{results['network.width'][-1]} distances {widest['limit']:.1e} and {widest['matched']:.1e}; alpha grew "
            f"{grown:.2f}-fold"
        )
        numbers = {
            "exponents": {start: exponent_numbers(p) for start, p in powers.items()},
            "distances": {start: _distances(results, start).mean(axis=1).tolist() for start in RATES},
            "growth": grown,
        }
        short = f"exponents {short_exponent(powers['limit'])}, {short_exponent(powers['matched'])}; alpha x {grown:.2f}"
        return Judgement(bool(all(good) and grown >= LEAST_GROWTH), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        widths = results["network.width"].tolist()
        for width, shade in zip(widths, colours(len(widths)), strict=True):
            at = {"network.width": width}
            courses(axes[0], results, "alpha", at, "o-", x="time", color=shade, label=f"$m = {width}$", ms=3, lw=1.2)
        at = {"network.width": widths[0], "seed": results["seed"][0]}
        t = results.select("time", at)
        for name, style, text in (
            ("alpha_limit", "k--", r"$\alpha$-flow from $\alpha_0$ of the law"),
            ("alpha_matched", "k:", f"matched to the first draw, $m = {widths[0]}$"),
        ):
            axes[0].plot(t, results.select(name, at), style, lw=1.2, label=text)
        axes[0].set(xlabel="time of particles", ylabel=r"$\alpha$", title="mean over draws of the weights")
        legend_below(axes[0], "")
        _lines(axes[1], results, "spherically symmetric neurons")
        _lines(axes[2], control, "control: one coordinate stretched")
        return fig


def _distances(results: Results, start: str) -> Floats:
    """(widths, seeds): largest |α/α_flow − 1| over the records."""
    found: Floats = np.abs(results["alpha"] / results[f"alpha_{start}"] - 1.0).max(axis=-1)
    return found


def _powers(results: Results) -> dict[str, PowerLaw | None]:
    return {start: fit_power(results["network.width"], _distances(results, start)) for start in RATES}


def _lines(axis: Axes, results: Results, title: str) -> None:
    width = results["network.width"]
    for start, shade, mark, style in zip(RATES, (BLUE, BROWN), "os", ("-", "--"), strict=True):
        distances = _distances(results, start)
        power_line(axis, width, distances, shade, WORDS[start], mark + style)
        reference_line(axis, width, 1.4 * float(distances[0].mean()), RATES[start][0])
    axis.set(xlabel="width $m$", ylabel=r"largest $|\alpha / \alpha_{\mathrm{flow}} - 1|$", title=title)
    tick_at(axis, width)
    legend_below(axis, "fitted exponents")
