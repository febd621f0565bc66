"""Wide random nets are Gaussian processes whose covariance is the layerwise recursion's. [S1 §4], MATH §3, §5.

Over many nets of each width: the conjugate kernel H Hᵀ of a single net tends to the process's covariance K like
m^(−1/2), the excess kurtosis of an output to 0 like 1/m, and at the widest net neither the covariance of the outputs
nor their law can be told from those of N(0, K). The control keeps the first hidden layer at 4 neurons: however wide
the rest, the net stays a mixture of Gaussians.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._numbers import short_exponent
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import power_line, reference_line
from simlab.figures.style import CONTROL_COLOUR, GREY, MEASURED, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import fit_power, fit_weighted_power
from simlab.statistics.sweeps import setting

CONJUGATE_RATE, CONJUGATE_TOLERANCE = -0.5, 0.05
KURTOSIS_RATE, KURTOSIS_TOLERANCE = -1.0, 0.35
STANDARD_ERRORS = 4.5  # by which an entry of the covariance may be off
CLEAR_ERRORS = 2.0  # standard errors: a kurtosis below has no logarithm worth fitting

_SPEC = """
[experiment]
kind = "gp_width"
seed = 5
draws = {draws}
points = 6
[data]
kind = "uniform_sphere"
dim = 5
[network]
kind = "mlp"
depth = {depth}
outputs = 8
[kernel]
kind = "nngp"
depth = {depth}
[sweep]
"network.width" = {widths}
"""


class GPLimit(Claim):
    statement = (
        "A randomly drawn deep net tends to a Gaussian process with the recursion's covariance as its width grows; so "
        "does its conjugate kernel."
    )
    source = "A kernel viewpoint [S1] §3-4 (Lee et al. 2018)"
    expected = (
        "error of the conjugate kernel ~ m^(-1/2) within 0.05, excess kurtosis ~ 1/m within 0.35; at the widest net "
        "the covariance within 4.5 standard errors and the Kolmogorov-Smirnov distance below its 0.1 % value"
    )
    quick = _SPEC.format(draws=2000, depth=3, widths=[24, 48, 96, 192])
    full = _SPEC.format(draws=20000, depth=4, widths=[24, 48, 96, 192, 384, 768])
    control = ("network.bottleneck=4",)

    def judge(self, results: Results) -> Judgement:
        width = results["network.width"]
        conjugate = fit_power(width, results["conjugate_error"])
        rate, rate_error = fit_weighted_power(width, results["kurtosis"], results["kurtosis_se"], CLEAR_ERRORS)
        widest = int(np.argmax(width))
        z, distance, critical = (
            float(results[name][widest]) for name in ("covariance_z", "ks_distance", "ks_critical")
        )
        holds = (
            conjugate is not None
            and abs(conjugate.exponent - CONJUGATE_RATE) <= CONJUGATE_TOLERANCE
            and abs(rate - KURTOSIS_RATE) <= KURTOSIS_TOLERANCE
            and z <= STANDARD_ERRORS
            and distance <= critical
        )
        kurtosis = f"exponent {rate:.2f} ± {2 * rate_error:.2f}" if np.isfinite(rate) else "no power law"
        measured = (
            f"conjugate kernel: exponent {conjugate}; kurtosis: {kurtosis}, {results['kurtosis'][widest]:.2g} at width "
            f"{width[widest]}; there the covariance {z:.1f} standard errors off, distance {distance:.3f} "
            f"(0.1 % value {critical:.3f})"
        )
        numbers = {
            name: results[name].tolist() for name in ("network.width", "conjugate_error", "kurtosis", "kurtosis_se")
        }
        numbers |= {name: results[name].tolist() for name in ("covariance_z", "ks_distance", "ks_critical")}
        exponents = {
            "conjugate": conjugate.exponent if conjugate else None,
            "kurtosis": rate if np.isfinite(rate) else None,
        }
        short = f"exponents {short_exponent(conjugate)} (kernel), {rate:.2f} (kurtosis)"
        return Judgement(bool(holds), measured, {"exponents": exponents, **numbers}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (left, middle, right) = panels(3)
        for source, colour, mark, style, label in (
            (results, MEASURED, "o", "-", "all layers wide"),
            (control, CONTROL_COLOUR, "s", "--", "control: a layer of 4"),
        ):
            width = source["network.width"]
            power_line(left, width, source["conjugate_error"], colour, label, mark + style)
            middle.errorbar(
                width, source["kurtosis"], 2 * source["kurtosis_se"], fmt=mark, ms=4, color=colour, label=label
            )
            right.plot(width, source["ks_distance"], mark + style, ms=4, lw=1, color=colour, label=label)
        width = results["network.width"].astype(np.float64)
        reference_line(left, width, 1.2 * float(results["conjugate_error"].max()), CONJUGATE_RATE)
        depth = setting(results, "network", "depth")
        middle.plot(width, 3 * ((1 + 5 / width) ** (depth - 1) - 1), "-", lw=1, color=MEASURED, label="exact for ReLU")
        right.plot(width, results["ks_critical"], ":", lw=1.4, color=GREY, label="0.1 % of Gaussian samples")
        left.set(ylabel=r"rms of $H H^{\top} - K$", title="conjugate kernel of one net")
        middle.set(yscale="log", ylabel="excess kurtosis", title="excess kurtosis of an output (bars: 2 s.e.)")
        right.set(
            ylim=(0, 1.5 * float(control["ks_distance"].max())),
            ylabel="distance",
            title="Kolmogorov–Smirnov distance from $N(0, K)$",
        )
        for axis in (left, middle, right):
            axis.set(xscale="log", xlabel="width $m$")
            tick_at(axis, results["network.width"])
            axis.legend(frameon=False, fontsize=8, loc="upper right" if axis is right else "lower left")
        return fig
