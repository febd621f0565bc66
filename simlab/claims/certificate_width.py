"""How the least width of a two-layer net grows with the dimension, by certificate. [S2] §5.1, MATH §8.

Shells of alternating sign whose square wave is κ = 3 times as fast as φ itself at its fastest: g φ then lies at the
ratios u = κ ± 1 and above, beyond 2R_d, in every dimension, where m tubes hold m u^{−d} of the sphere. Least widths for
a fixed error ε grow like u^d, log10(κ−1) ≤ slope ≤ log10(κ+1) for an ε of about half of the energy. The 1-Lipschitz
ReLU(1−‖x‖) under the same law is within reach of a few neurons for every d, as far as the certificate tells, at an ε
sixty times smaller: for a fixed error such a function is learnable with poly(d) width (Safran, Eldan and Shamir).
The control puts the Lipschitz target in the place of the shells.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims.claim import Claim, Judgement
from simlab.figures.certificates import DIM, REFERENCE, width_lines
from simlab.figures.style import GREY, panels
from simlab.record.reader import Results
from simlab.statistics.power_law import slope

FREQUENCY = 3.0  # κ of the shells, in the units of φ
# log10 of the least width per dimension: from … to
SLOPES = (float(np.log10(FREQUENCY - 1)), float(np.log10(FREQUENCY + 1)))
BEND_SHARE = 0.35  # by which the slopes of both halves may differ, of the slope
LEAST_BEYOND = 0.5  # share of the energy beyond 2R_d
MOST_DECADES = 1.0  # of the least widths for the Lipschitz target
MASS, INNER, OUTER = 0.6, 0.6, 1.6
COUNTS = {4: 3, 6: 5, 8: 6, 12: 10, 16: 13, 24: 19, 32: 26, 48: 39, 64: 52, 100: 82, 200: 163}
"""Dimension → number of shells: κ(s₂−s₁)/π of them from s₁ to s₂, the radii INNER and OUTER in the units of φ."""


def _spec(dims: list[int], eps: list[float]) -> str:
    shells = ", ".join(
        f'{{ kind = "shells", inner = {INNER}, outer = {OUTER}, count = {COUNTS[dim]} }}' for dim in dims
    )
    return f"""
[experiment]
kind = "certificate"
seed = 1
widths = [1, 10, 100, 1000, 10000]
eps = {eps}
[data]
kind = "ball_fourier"
mass = {MASS}
[reference]
kind = "radial_relu"
[sweep]
"data.dim" = {dims}
target = [{shells}]
zip = [["data.dim", "target"]]
"""


QUICK_DIMS, FULL_DIMS = [4, 8, 12, 16, 24], [4, 6, 8, 12, 16, 24, 32, 48, 64, 100, 200]
_RELU = '{ kind = "radial_relu" }'


class CertificateWidth(Claim):
    statement = (
        "By certificate, the least width of a two-layer net for a fixed error grows exponentially in d for signed "
        "shells that oscillate, but not for the Lipschitz ReLU(1-|x|), even at a much smaller error."
    )
    source = "Depth separation [S2] §5.1, Lemmas 4 and 5 (Eldan and Shamir 2016; Safran, Eldan and Shamir 2019)"
    expected = (
        "shells: most of the energy beyond 2R_d, log10 of the least width linear in d with a slope from log10(2) to "
        "log10(4), the ratios at frequency 3; ReLU(1-|x|): at most a tenfold range over all d, at every error"
    )
    quick = _spec(QUICK_DIMS, [0.3, 0.005])
    full = _spec(FULL_DIMS, [0.3, 0.1, 0.005, 0.002])
    control = ("sweep.data.dim=[4, 8, 12, 16, 24]", f"sweep.target=[{', '.join([_RELU] * len(QUICK_DIMS))}]")

    def judge(self, results: Results) -> Judgement:
        dims = results[DIM].astype(np.float64)
        largest = int(np.argmax(results["eps"]))
        widths, lipschitz = results["log10_width"][:, largest], results[f"log10_width{REFERENCE}"]
        steepness = slope(dims, widths)
        # A power of d would be twice as steep in the lower half of the dimensions as in the upper.
        half = dims.size // 2
        halves = slope(dims[: half + 1], widths[: half + 1]), slope(dims[half:], widths[half:])
        beyond = float(results["beyond"][:, results["ratio"].tolist().index(2.0)].min())
        spread = float(np.ptp(lipschitz, axis=0).max()) if np.all(np.isfinite(lipschitz)) else np.inf
        exponential = SLOPES[0] <= steepness <= SLOPES[1] and abs(halves[1] - halves[0]) <= BEND_SHARE * steepness
        # Where one neuron would do, nothing is shown.
        some = float(lipschitz[:, int(np.argmin(results["eps"]))].min()) > 0
        measured = (
            f"shells: log10 of the least width {widths[0]:.1f} at d = {dims[0]:g} to {widths[-1]:.1f} at d = "
            f"{dims[-1]:g}, {steepness:.3f} a dimension ({halves[0]:.3f}, {halves[1]:.3f} by halves), at least "
            f"{100 * beyond:.0f} % of the energy beyond 2R_d; ReLU(1-|x|): least widths {10 ** lipschitz.min():.0f} "
            f"to {10 ** lipschitz.max():.0f}"
        )
        numbers = {
            "slope": steepness,
            "slope_by_halves": list(halves),
            "beyond": beyond,
            "lipschitz_range": spread,
            "log10_widths": widths.tolist(),
            "log10_widths_lipschitz": lipschitz.tolist(),
        }
        short = f"least width x {10**steepness:.2f} per dimension"
        return Judgement(
            bool(exponential and beyond >= LEAST_BEYOND and spread <= MOST_DECADES and some), measured, numbers, short
        )

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        width_lines(axes[0], results)
        dims, largest = results[DIM].astype(np.float64), int(np.argmax(results["eps"]))
        widths = results["log10_width"][:, largest]
        for ratio, style in ((FREQUENCY - 1, ":"), (FREQUENCY + 1, "-.")):
            axes[0].plot(
                dims, widths[0] + (dims - dims[0]) * np.log10(ratio), style, color=GREY, lw=1.4, label=f"${ratio:g}^d$"
            )
        axes[0].set_title("shells that oscillate")
        width_lines(axes[1], results, REFERENCE)
        axes[1].set_title(r"ReLU$(1 - \|x\|)$, the same law")
        width_lines(axes[2], control)
        axes[2].set_title(r"control: ReLU$(1 - \|x\|)$ for the shells")
        for axis in axes:
            axis.legend(frameon=False, fontsize=8, title="error", title_fontsize=8)
        for axis in axes[1:]:
            axis.set_ylim(-0.15, max(3.0, axis.get_ylim()[1]))  # points at 0, one neuron, whole
        return fig
