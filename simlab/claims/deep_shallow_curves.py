"""Deep and shallow ReLU tangent kernels and Laplace's kernel have the same learning curves. [S0], MATH §4–5.

One eigenvalue decay, k^{−d}, at every depth: for a target with power k^{−2} in degree k the errors of ridge regression
(ridge chosen on validation data) coincide, and fall at one rate. Target and data are the same for all kernels. Depths
are 3 and more: the bias-free kernel of depth 2 has no odd degree above 1 and never learns them. The control is the
step's random-feature kernel, whose decay k^{−d−2^{2−L}+1} is slower at every further layer: deep ones fall behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims.claim import Claim, Judgement
from simlab.figures.curves import Floats, learning_curve, log_axes
from simlab.figures.style import colours, panels
from simlab.record.reader import Results
from simlab.statistics.power_law import slope
from simlab.statistics.sweeps import mean_over_seeds

ERROR_TOLERANCE = 0.1
SLOPE_TOLERANCE = 0.1

_SPEC = """
[experiment]
kind = "learning_curve"
seed = 1
test_samples = 1000
ridges = [1e-4, 1e-3, 1e-2, 1e-1]
theory_degree = {degree}
[data]
kind = "uniform_sphere"
dim = 3
[target]
kind = "gegenbauer"
degrees = {degrees}
powers = {powers}
directions = 2
[kernel]
kind = "ntk"
activation = "relu"
[reference]
kind = "laplace"
c = 1.0
[sweep]
"kernel.depth" = {depths}
"experiment.samples" = {samples}
seeds = {seeds}
"""


def _spec(degree: int, **sizes: Any) -> str:
    degrees = list(range(1, degree + 1))
    return _SPEC.format(degree=degree, degrees=degrees, powers=[round(k**-2.0, 8) for k in degrees], **sizes)


class DeepShallowCurves(Claim):
    statement = (
        "ReLU's tangent kernels of all depths from 3 on and Laplace's kernel have the same learning curves on the "
        "sphere."
    )
    source = "Deep equals shallow [S0], section 4 (numerical experiments)"
    expected = "mean errors within 10 % of Laplace's at every n and depth, slopes in log n within 0.1 of Laplace's"
    quick = _spec(40, depths=[3, 5, 7], samples=[50, 100, 200, 400], seeds=5)
    full = _spec(100, depths=[3, 4, 5, 7], samples=[50, 100, 200, 400, 800, 1600], seeds=20)
    control = ("kernel.kind=nngp", "kernel.activation=step")

    def judge(self, results: Results) -> Judgement:
        n = results["experiment.samples"].astype(np.float64)
        rows: list[dict[str, Any]] = []
        for depth in results["kernel.depth"].tolist():
            own, _ = mean_over_seeds(results, "test_error", {"kernel.depth": depth})
            other, _ = mean_over_seeds(results, "reference_error", {"kernel.depth": depth})
            rows.append(
                {
                    "depth": depth,
                    "error_over_laplace": (own / other).tolist(),
                    "slope": _slope(n, own),
                    "laplace_slope": _slope(n, other),
                }
            )
        off = max(abs(ratio - 1) for row in rows for ratio in row["error_over_laplace"])
        apart = max(abs(row["slope"] - row["laplace_slope"]) for row in rows)
        measured = (
            f"errors at most {100 * off:.1f} % off Laplace's, slopes at most {apart:.3f} off "
            f"{rows[0]['laplace_slope']:.3f} over {len(rows)} depths and {n.size} sizes"
        )
        short = f"errors {100 * off:.1f} % off Laplace's, slopes {apart:.3f}"
        return Judgement(bool(off <= ERROR_TOLERANCE and apart <= SLOPE_TOLERANCE), measured, {"depths": rows}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (left, middle, right) = panels(3)
        for axis, source, title in ((left, results, "tangent kernels, ReLU"), (middle, control, "control: step")):
            depths = source["kernel.depth"].tolist()
            for depth, shade in zip(depths, colours(len(depths)), strict=True):
                learning_curve(axis, source, {"kernel.depth": depth}, shade, f"depth {depth}")
            other, spread = mean_over_seeds(source, "reference_error", {"kernel.depth": depths[0]})
            axis.errorbar(source["experiment.samples"], other, spread, fmt="kx", ms=6, capsize=2, lw=1, label="Laplace")
            log_axes(axis, source["experiment.samples"])
            axis.set_title(title, fontsize=10)
        low = min(left.get_ylim()[0], middle.get_ylim()[0])
        high = max(left.get_ylim()[1], middle.get_ylim()[1])
        for axis in (left, middle):
            axis.set_ylim(low, high)
        left.legend(frameon=False, fontsize=8, title="bars: standard errors, lines: theory", title_fontsize=8)
        for source, style, name in ((results, "o-", "ReLU"), (control, "x--", "control: step")):
            depths = source["kernel.depth"].tolist()
            for depth, shade in zip(depths, colours(len(depths)), strict=True):
                own, other = (
                    mean_over_seeds(source, key, {"kernel.depth": depth})[0]
                    for key in ("test_error", "reference_error")
                )
                right.plot(
                    source["experiment.samples"], own / other, style, color=shade, ms=5, label=f"{name}, depth {depth}"
                )
        right.axhspan(1 - ERROR_TOLERANCE, 1 + ERROR_TOLERANCE, color="C0", alpha=0.15, lw=0, label="±10 %")
        log_axes(right, results["experiment.samples"])
        right.set(yscale="linear", ylabel="error / Laplace's error")
        right.set_title("error over Laplace's", fontsize=10)
        right.set_ylim(top=1.5 * right.get_ylim()[1])
        right.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
        return fig


def _slope(n: Floats, error: Floats) -> float:
    return slope(np.log(n), np.log(error))
