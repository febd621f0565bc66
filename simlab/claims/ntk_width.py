"""The tangent kernel of a random net tends to its limit like width^(−1/2), at every depth. [S1 §5], MATH §6.

Over independent nets of each width and depth: the mean of the root mean square and of the largest |K̂ − Θ| over pairs of
inputs; exponents are fitted over the widths with a jackknife's interval over nets. The bias of the mean is
o(width^(−1/2)) and may be anything. The control keeps the first hidden layer at 4 neurons, which no width of the others
makes up for.
"""

from __future__ import annotations

from itertools import cycle

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._short_text import short_exponents
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.style import colours, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

RATE, TOLERANCE = -0.5, 0.12
ERRORS = ("rms_error", "sup_error")

_SPEC = """
[experiment]
kind = "tangent_width"
seed = 3
draws = {draws}
points = 8
[data]
kind = "uniform_sphere"
dim = 5
[network]
kind = "mlp"
[sweep]
"network.depth" = {depths}
"network.width" = {widths}
"""


class NTKWidth(Claim):
    statement = (
        "The empirical tangent kernel of a randomly drawn net tends to the recursion's limit as the width grows, "
        "entry by entry like width^(-1/2), whatever the depth."
    )
    source = "A kernel viewpoint [S1] §5.1 (Jacot et al. 2018; Arora et al. 2019)"
    expected = "exponents of the rms and sup error over pairs, their 95 % intervals, within 0.12 of -1/2 at every depth"
    quick = _SPEC.format(draws=100, depths=[2, 3, 4], widths=[64, 128, 256, 512])
    full = _SPEC.format(draws=500, depths=[2, 3, 5, 8], widths=[64, 128, 256, 512, 1024, 2048])
    control = ("network.bottleneck=4",)

    def judge(self, results: Results) -> Judgement:
        powers = _powers(results)
        fitted = [power for power in powers.values() if power is not None]
        holds = len(fitted) == len(powers) and all(power.within(RATE, TOLERANCE) for power in fitted)
        worst = max(fitted, key=lambda power: abs(power.exponent - RATE), default=None)
        measured = (
            f"exponents {min(p.exponent for p in fitted):.3f} to {max(p.exponent for p in fitted):.3f} over "
            f"{len(powers)} fits, the farthest from -1/2 {worst}"
            if len(fitted) == len(powers)
            else f"no power law in {len(powers) - len(fitted)} of {len(powers)} cases"
        )
        numbers = {
            name: None if power is None else {"exponent": power.exponent, "interval": [power.low, power.high]}
            for name, power in powers.items()
        }
        short = f"exponents {short_exponents(powers.values())}, {len(powers)} fits"
        return Judgement(bool(holds), measured, {"exponents": numbers}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        for axis, source, error, title in (
            (axes[0], results, "rms_error", "root mean square over pairs"),
            (axes[1], results, "sup_error", "largest over pairs"),
            (axes[2], control, "rms_error", "control: a layer of 4, root mean square"),
        ):
            depths, width = source["network.depth"].tolist(), source["network.width"]
            tops = []
            for depth, shade, mark in zip(depths, colours(len(depths)), cycle("os^D"), strict=False):
                values = source.select(error, {"network.depth": depth})
                power_line(axis, width, values, shade, f"depth {depth}", f"{mark}-")
                tops.append(np.mean(values, axis=-1).max())
            reference_line(axis, width, 1.5 * max(tops), RATE)
            axis.set(xlabel="width $m$", ylabel=r"$|\hat K - \Theta|$", title=title)
            tick_at(axis, width)
            legend_below(axis, "fitted exponents")
        return fig


def _powers(results: Results) -> dict[str, PowerLaw | None]:
    width = results["network.width"]
    return {
        f"depth {depth}, {error}": fit_power(width, results.select(error, {"network.depth": depth}))
        for depth in results["network.depth"].tolist()
        for error in ERRORS
    }
