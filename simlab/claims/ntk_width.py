"""The tangent kernel of a random net tends to its limit like width^(−1/2), at every depth. [S1 §5], MATH §6.

Over independent nets of each width and depth: the mean of the root mean square and of the largest |K̂ − Θ| over pairs of
inputs; exponents are fitted over the widths with a jackknife's interval over nets. The bias of the mean is
o(width^(−1/2)) and may be anything. The control keeps the first hidden layer at 4 neurons, which no width of the others
makes up for.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims._rates import judge_rate, rate_lines
from simlab.claims.claim import Claim, Judgement
from simlab.figures.style import panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

TOLERANCE = 0.12
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
        return judge_rate(_powers(results), TOLERANCE)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        for axis, source, error, title in (
            (axes[0], results, "rms_error", "root mean square over pairs"),
            (axes[1], results, "sup_error", "largest over pairs"),
            (axes[2], control, "rms_error", "control: a layer of 4, root mean square"),
        ):
            depths, width = source["network.depth"].tolist(), source["network.width"]
            rate_lines(
                axis, width, {f"depth {depth}": source.select(error, {"network.depth": depth}) for depth in depths}
            )
            axis.set(xlabel="width $m$", ylabel=r"$|\hat K - \Theta|$", title=title)
            tick_at(axis, width)
        return fig


def _powers(results: Results) -> dict[str, PowerLaw | None]:
    width = results["network.width"]
    return {
        f"depth {depth}, {error}": fit_power(width, results.select(error, {"network.depth": depth}))
        for depth in results["network.depth"].tolist()
        for error in ERRORS
    }
