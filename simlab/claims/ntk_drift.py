"""While a wide net is trained its tangent kernel hardly moves: the drift falls with the width. [S1 §5.2], MATH §6.

Relative drift ‖K̂_t − K̂_0‖/‖K̂_0‖ after a fixed number of steps at a fixed fraction of the edge of stability. In NTK
scaling a neuron's weights move by O(m^(−1/2)), to first order by an odd function of its a_j, whose mean over neurons is
0: what is left of (1/m)Σ_j is of second order, O(1/m), for a smooth φ. For ReLU the share of neurons that cross their
kink is O(m^(−1/2)), and each adds ±O(1/m) with a random sign: √(√m)/m = m^(−3/4). In mean-field scaling (the control)
neurons move by O(1) on the same horizon at every width.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._numbers import exponent_numbers, short_exponent
from simlab.claims._teacher import EDGE_DESCENT, TEACHER
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.seeds import courses
from simlab.figures.style import colours, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

# activation → claimed exponent
RATES = {"erf": -1.0, "relu": -0.75}
TOLERANCE = 0.25

_SPEC = """
observables = ["train_loss", "tangent_drift"]
[experiment]
kind = "gradient_flow"
seed = 7
samples = 20
records = 11
spacing = "log"
"""
_SPEC += TEACHER + "doubled = true\n" + EDGE_DESCENT
_SPEC += """\
[sweep]
"network.activation" = ["erf", "relu"]
"network.width" = {widths}
seeds = {seeds}
"""


class NTKDrift(Claim):
    statement = (
        "During training the tangent kernel of a net in NTK scaling drifts the less the wider the net: like 1/m for a "
        "smooth activation, like m^(-3/4) for ReLU."
    )
    source = "A kernel viewpoint [S1] §5.1-5.2 (Jacot et al. 2018; Lee et al. 2019; Dyer and Gur-Ari 2020)"
    expected = "exponents of the final relative drift, their 95 % intervals within 0.25 of -1 (erf) and -3/4 (ReLU)"
    quick = _SPEC.format(steps=100, widths=[128, 256, 512, 1024, 2048], seeds=12)
    full = _SPEC.format(steps=1000, widths=[128, 256, 512, 1024, 2048, 4096, 8192], seeds=20)
    control = ('network.scaling="mean_field"',)

    def judge(self, results: Results) -> Judgement:
        powers = _powers(results)
        fitted = {name: power for name, power in powers.items() if power is not None}
        holds = len(fitted) == len(powers) and all(p.within(RATES[name], TOLERANCE) for name, p in fitted.items())
        widest = int(np.argmax(results["network.width"]))
        parts = [
            f"{name}: exponent {power}, drift {_ends(results, name)[widest].mean():.2g} at width "
            f"{results['network.width'][widest]}"
            for name, power in fitted.items()
        ]
        missing = [f"{name}: no power law" for name in powers if name not in fitted]
        numbers = {name: exponent_numbers(power) for name, power in powers.items()}
        drift = {name: np.nan_to_num(_ends(results, name).mean(axis=-1)).tolist() for name in powers}
        short = "exponents " + ", ".join(f"{short_exponent(power)} ({name})" for name, power in powers.items())
        return Judgement(bool(holds), "; ".join(parts + missing), {"exponents": numbers, "drift": drift}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (left, middle, right) = panels(3)
        width, drift = results["network.width"], r"$\|\hat K_t - \hat K_0\| / \|\hat K_0\|$"
        for axis, source, title in ((left, results, "NTK scaling"), (middle, control, "control: mean-field scaling")):
            names = source["network.activation"].tolist()
            for name, shade, mark in zip(names, colours(len(names)), "os^D", strict=False):
                power_line(axis, width, _ends(source, name), shade, name, f"{mark}-")
                if axis is left:
                    reference_line(axis, width, 1.3 * float(_ends(source, name)[0].mean()), RATES[name])
            axis.set(xlabel="width $m$", ylabel=f"{drift} at the end", title=title)
            tick_at(axis, width)
            legend_below(axis, "fitted exponents")
        name = results["network.activation"].tolist()[0]
        for m, shade in zip(width.tolist(), colours(len(width)), strict=True):
            at = {"network.activation": name, "network.width": m}
            courses(right, results, "tangent_drift", at, first=1, color=shade, label=f"$m = {m}$", log=True)
        right.set(xscale="log", yscale="log", xlabel="step", ylabel=drift, title=f"along training, {name}")
        legend_below(right, "")
        return fig


def _ends(results: Results, activation: str) -> np.ndarray:
    """The drift at the last record, (widths, seeds)."""
    drift: np.ndarray = results.select("tangent_drift", {"network.activation": activation})
    return drift[..., -1]


def _powers(results: Results) -> dict[str, PowerLaw | None]:
    width, activations = results["network.width"], results["network.activation"].tolist()
    return {name: fit_power(width, _ends(results, name)) for name in activations}
