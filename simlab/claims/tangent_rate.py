"""Wide nets train at the rate of the tangent kernel's smallest eigenvalue. [S1 §5.1–5.2], MATH §5, §6.

In the tangent (linear) regime the residual's part in mode i of K/n contracts by 1 − η λ_i per step, so that in the end
the loss falls by (1 − η λ_min)² per step, as long as η < 2/λ_max. For each point the slope of log(loss) against the
step is fitted where the slowest mode carries 95 % of the loss by the flow's own account, c_i² exp(−2 η λ_i t), and
the loss is still above rounding; it is divided by 2 log|1 − η λ_min|. A ratio of 1 is the claim. Past 2/λ_max (the
control) the fastest mode grows, the loss rises and the net leaves the linear regime.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._numbers import short_range
from simlab.claims._teacher import EDGE_DESCENT, TEACHER
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below
from simlab.figures.seeds import band
from simlab.figures.style import CONTROL_COLOUR, GUIDE, MEASURED, colours, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import slope

TOLERANCE = 0.1  # of fitted over predicted rate, about 1
DOMINATED_SHARE = 0.95  # of the loss, in the slowest mode
FLOOR_SHARE = 1e-22  # of the initial loss: residuals of 1e-11, far above the rounding of a float64 forward pass

_SPEC = """
observables = ["train_loss", "weight_movement", "tangent_spectrum"]
[experiment]
kind = "gradient_flow"
seed = 7
samples = 10
records = 401
"""
_SPEC += TEACHER + EDGE_DESCENT
_SPEC += """\
[sweep]
"network.width" = {widths}
seeds = {seeds}
"""


class TangentRate(Claim):
    statement = (
        "For a wide net, the training loss of gradient descent falls at the rate that the smallest eigenvalue of the "
        "tangent kernel predicts."
    )
    source = "A kernel viewpoint [S1] §5.1-5.2 (Jacot et al. 2018; Lee et al. 2019)"
    expected = (
        "fitted rate / predicted rate within 10 % of 1 at the widest net, every seed; the loss never above its start"
    )
    quick = _SPEC.format(steps=400, widths=[64, 512, 4096], seeds=5)
    full = _SPEC.format(steps=400, widths=[64, 256, 1024, 4096, 16384, 65536], seeds=20)
    control = ("flow.step=1.1",)

    def judge(self, results: Results) -> Judgement:
        ratios, rises = _ratios(results)
        widest = int(np.argmax(results["network.width"]))
        off = np.abs(ratios[widest] - 1)
        holds = bool(np.all(off <= TOLERANCE) and np.all(rises[widest] <= 1.0))
        measured = (
            f"width {results['network.width'][widest]}: rate ratio {np.nanmean(ratios[widest]):.3f}, "
            f"worst {off.max():.3f} off 1 over {off.size} seeds; largest loss {rises[widest].max():.3g} x the first"
            if np.all(np.isfinite(off))
            else f"no rate to fit at {np.count_nonzero(~np.isfinite(off))} of {off.size} seeds; "
            f"largest loss {rises[widest].max():.3g} x the first"
        )
        numbers = {
            "width": results["network.width"].tolist(),
            "rate_ratio": [[None if np.isnan(r) else r for r in row] for row in ratios.tolist()],
            "largest_loss_over_first": rises.tolist(),
        }
        short = f"rate {short_range(ratios[widest])} of predicted"
        return Judgement(holds, measured, numbers, short if np.all(np.isfinite(off)) else measured.partition(";")[0])

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (left, middle, right) = panels(3)
        widths = results["network.width"]
        for axis, source, title in (
            (left, results, "below the edge, first seed"),
            (middle, control, r"control: past $2/\lambda_{\max}$, first seed"),
        ):
            # Every seed has a slowest mode of its own: a band over them would say nothing of net and kernel.
            for width, shade, mark in zip(widths, colours(len(widths)), "os^", strict=False):
                at = {"network.width": width, "seed": 0}
                step, loss = source.select("step", at), source.select("train_loss", at)
                lam, power = source.select("tangent_eigenvalue", at), source.select("tangent_power", at)
                eta = float(source.select("step_size", at))
                axis.plot(step, loss, color=shade, lw=1.6, marker=mark, ms=4, markevery=0.12, label=f"$m = {width}$")
                with np.errstate(over="ignore"):
                    predicted = 0.5 * np.sum(power * (1 - eta * lam) ** (2.0 * step[:, np.newaxis]), axis=1)
                axis.plot(step, predicted, color=shade, lw=1.2, ls="--")
            axis.set(yscale="log", xlabel="step", ylabel="training loss", title=title, ylim=(1e-30, 1e8))
        left.legend(frameon=False, fontsize=8, title="solid: net, dashed: kernel", title_fontsize=8)
        for source, style, colour, label in (
            (results, "o-", MEASURED, "below the edge"),
            (control, "x--", CONTROL_COLOUR, "control"),
        ):
            ratios, _ = _ratios(source)
            band(right, widths, ratios, colour)
            right.plot(widths, ratios.mean(axis=1), style, ms=5, color=colour, label=f"{label}, mean over seeds")
        for edge in (1 - TOLERANCE, 1 + TOLERANCE):
            right.axhline(edge, color=GUIDE, ls=":", lw=1.2, label=f"within {TOLERANCE:g} of 1" if edge < 1 else None)
        right.set(xscale="log", xlabel="width $m$", ylabel="fitted / predicted rate", title="rate of the slowest mode")
        tick_at(right, widths)
        legend_below(right, "")
        return fig


def _rate_ratio(
    step: NDArray[np.int64],
    loss: NDArray[np.float64],
    lam: NDArray[np.float64],
    power: NDArray[np.float64],
    eta: float,
) -> float:
    """Fitted over predicted slope of log(loss); NaN where the slowest mode never dominates above rounding."""
    modes = power * np.exp(-2 * eta * lam * step[:, np.newaxis])
    window = (modes[:, 0] >= DOMINATED_SHARE * modes.sum(axis=1)) & (loss > FLOOR_SHARE * loss[0]) & np.isfinite(loss)
    if np.count_nonzero(window) < 5:
        return float("nan")
    fitted = slope(step[window], np.log(loss[window]))
    return float(fitted / (2 * np.log(abs(1 - eta * lam[0]))))


def _ratios(results: Results) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(widths, seeds) rate ratios, and the largest loss over the initial one."""
    widths, seeds = results["network.width"], results["seed"]
    ratios, rises = np.empty((len(widths), len(seeds))), np.empty((len(widths), len(seeds)))
    for i, width in enumerate(widths):
        for j, seed in enumerate(seeds):
            at = {"network.width": width, "seed": seed}
            loss = results.select("train_loss", at)
            lam, power = results.select("tangent_eigenvalue", at), results.select("tangent_power", at)
            ratios[i, j] = _rate_ratio(
                results.select("step", at), loss, lam, power, float(results.select("step_size", at))
            )
            rises[i, j] = np.max(np.nan_to_num(loss, nan=np.inf)) / loss[0]
    return ratios, rises
