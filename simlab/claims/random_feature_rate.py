"""m random features approximate their kernel with an error ~ m^(−1/2), uniformly on a compact set. [S1 §2.1], MATH §5.

sup |K̂ − K| and its root mean square over pairs of points of the unit sphere, for the three Fourier pairs and for ReLU
neurons; exponents are fitted over m to means over independent draws. The rate is that of independent sampling: the
control draws the Fourier weights from a scrambled Sobol sequence instead, whose error falls faster.
"""

from __future__ import annotations

import json

from matplotlib.figure import Figure as Picture

from simlab.claims._rates import judge_rate, rate_lines
from simlab.claims.claim import Claim, Judgement
from simlab.figures.style import panels
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

TOLERANCE = 0.08
ERRORS = ("sup_error", "rms_error")

_SPEC = """
[experiment]
kind = "random_features_error"
seed = 11
points = {points}
[data]
kind = "uniform_sphere"
dim = 3
[kernel]
kind = "nngp"
depth = 2
[sweep]
network = [
    {{ kind = "fourier_features", kernel = "gaussian" }},
    {{ kind = "fourier_features", kernel = "laplacian" }},
    {{ kind = "fourier_features", kernel = "cauchy" }},
    {{ kind = "random_features", activation = "relu" }},
]
"network.width" = {widths}
seeds = {seeds}
"""


class RandomFeatureRate(Claim):
    statement = (
        "The kernel of m random features (Gaussian, Laplacian and Cauchy Fourier features, ReLU neurons) differs from "
        "its limit by m^(-1/2), uniformly over a compact set."
    )
    source = "A kernel viewpoint [S1] §2.1 (Rahimi and Recht 2007)"
    expected = "exponents of the sup and the rms error, with their 95 % intervals, within 0.08 of -1/2 for all four"
    quick = _SPEC.format(points=60, widths=[32, 64, 128, 256, 512, 1024, 2048, 4096], seeds=30)
    full = _SPEC.format(points=300, widths=[4**k for k in range(2, 9)], seeds=200)
    control = (
        "sweep.network=["
        + ", ".join(
            f'{{ kind = "fourier_features", kernel = "{kernel}", sampling = "sobol" }}'
            for kernel in ("gaussian", "laplacian", "cauchy")
        )
        + "]",
    )

    def judge(self, results: Results) -> Judgement:
        return judge_rate(_powers(results), TOLERANCE)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        for axis, source, error, title in (
            (axes[0], results, "sup_error", "random weights, sup over pairs"),
            (axes[1], results, "rms_error", "random weights, root mean square"),
            (axes[2], control, "rms_error", "control: Sobol weights, root mean square"),
        ):
            tables = source["network"].tolist()
            lines = {_name(table): source.select(error, {"network": table}) for table in tables}
            rate_lines(axis, source["network.width"], lines)
            axis.set(xlabel="number of features $m$", ylabel=r"$|\hat K - K|$", title=title)
        return fig


def _name(table: str) -> str:
    """``Gaussian features``, ``ReLU neurons``"""
    fields = json.loads(table)
    return f"{fields['kernel'].capitalize()} features" if "kernel" in fields else "ReLU neurons"


def _powers(results: Results) -> dict[str, PowerLaw | None]:
    return {
        f"{_name(table)}, {error}": fit_power(results["network.width"], results.select(error, {"network": table}))
        for table in results["network"].tolist()
        for error in ERRORS
    }
