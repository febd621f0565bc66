"""The Laplace kernel and the deep ReLU tangent kernel have the same decay: their spectra are equivalent. [S0], MATH §4.

Both have a (1−u)^{1/2} at u = 1, so that μ_k(NTK)/μ_k(Laplace) stays between two positive constants and tends to
(c₊ ± c₋)/(−c). The slope of its logarithm in log k is fitted over the upper half of the degrees. The control compares
with the Gaussian kernel, from whose spectrum the ratio runs away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._spectra import Floats, kernels_of, label
from simlab.claims.claim import Claim, Judgement
from simlab.figures.spectra import compensated_axes, eigenvalue_lines
from simlab.figures.style import GREEN, colours, panels
from simlab.record.reader import Results
from simlab.statistics.power_law import slope

MOST_SLOPE = 0.02  # of log ratio in log k
MOST_RATIO = 100.0  # of the largest over the smallest ratio

_SPEC = """
[experiment]
kind = "spectrum"
seed = 1
max_degree = {degree}
[kernel]
kind = "ntk"
[reference]
kind = "laplace"
c = 1.0
[sweep]
"kernel.depth" = {depths}
"experiment.dim" = {dims}
"""


class LaplaceNTK(Claim):
    statement = "The Laplace kernel and ReLU's tangent kernel of depth 3 or more have the same eigenvalue decay."
    source = "Deep equals shallow [S0], section 3 (Laplace kernel); Chen and Xu 2021"
    expected = "ratio of eigenvalues within a factor of 100 over all degrees, and its slope in log k below 0.02"
    quick = _SPEC.format(degree=300, depths=[3, 5, 10], dims=[3, 10])
    full = _SPEC.format(degree=1000, depths=[3, 4, 5, 7, 10, 20], dims=[3, 5, 10, 20])
    control = ("reference.kind=gaussian",)

    def judge(self, results: Results) -> Judgement:
        rows: list[dict[str, Any]] = []
        for at in kernels_of(results):
            log_ratio = _log_ratio(results, at)
            rows.append({"at": label(at), "log10_spread": float(np.ptp(log_ratio)), "slope": _slope(log_ratio)})
        spread, slope = max(row["log10_spread"] for row in rows), max(abs(row["slope"]) for row in rows)
        measured = (
            f"ratio spread by 10^{spread:.2f} at most, slope in log k at most {slope:.1e}, over {len(rows)} kernels"
        )
        short = f"ratio within 10^{spread:.2f}, its slope {slope:.1e}"
        return Judgement(
            bool(spread <= np.log10(MOST_RATIO) and slope <= MOST_SLOPE), measured, {"kernels": rows}, short
        )

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        depths, dims = results["kernel.depth"].tolist(), results["experiment.dim"]
        low, high = int(dims.min()), int(dims.max())
        for axis, source, title in (
            (axes[0], results, "NTK over Laplace"),
            (axes[1], control, "control: NTK over Gaussian"),
        ):
            for depth, shade in zip(depths, colours(len(depths)), strict=True):
                log_ratio = _log_ratio(source, {"kernel.depth": depth, "experiment.dim": high})
                axis.plot(
                    np.arange(1, log_ratio.size), log_ratio[1:], ".", ms=4, color=shade, label=f"NTK, depth {depth}"
                )
            axis.set(xscale="log", xlabel="degree $k$", title=f"{title}, $d = {high}$")
            axis.set_ylabel(r"$\log_{10}$ of the ratio of eigenvalues")
            axis.legend(frameon=False, fontsize=8)
        axes[0].set_ylim(-2, 2)
        for depth, shade in zip(depths, colours(len(depths)), strict=True):
            at = {"kernel.depth": depth, "experiment.dim": low}
            log10, law = results.select("log10_eigenvalue", at), results.select("log10_predicted", at)
            eigenvalue_lines(axes[2], results["degree"], log10, law, shade, f"NTK, depth {depth}", low)
        with np.errstate(divide="ignore"):
            laplace = results.select("log10_reference", at) + low * np.log10(results["degree"])
        axes[2].plot(results["degree"][1:], laplace[1:], "x", ms=3.5, color=GREEN, label="Laplace")
        compensated_axes(axes[2], low, low)
        axes[2].legend(frameon=False, fontsize=8)
        return fig


def _log_ratio(results: Results, at: dict[str, object]) -> Floats:
    return np.asarray(results.select("log10_eigenvalue", at) - results.select("log10_reference", at))


def _slope(log_ratio: Floats) -> float:
    """Of log ratio against log k over the upper half, parities averaged: they tend to different constants."""
    k = np.arange(log_ratio.size // 2, log_ratio.size - 1, 2)
    return slope(np.log10(k + 0.5), 0.5 * (log_ratio[k] + log_ratio[k + 1]))
