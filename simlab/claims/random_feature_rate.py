"""m random features approximate their kernel with an error ~ m^(−1/2), uniformly on a compact set. [S1 §2.1], MATH §5.

sup |K̂ − K| and its root mean square over pairs of points of the unit sphere, for the three Fourier pairs and for ReLU
neurons; exponents are fitted over m to means over independent draws. The rate is that of independent sampling: the
control draws the Fourier weights from a scrambled Sobol sequence instead, whose error falls faster.
"""

from __future__ import annotations

import json
from itertools import cycle

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._short_text import short_exponents
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.style import colours, panels
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

RATE = -0.5
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
        rows = []
        for table in results["network"].tolist():
            for error, power in _powers(results, table).items():
                rows.append((f"{_name(table)}, {error}", power))
        fitted = [power for _, power in rows if power is not None]
        holds = len(fitted) == len(rows) and all(power.within(RATE, TOLERANCE) for power in fitted)
        worst = max(fitted, key=lambda power: abs(power.exponent - RATE), default=None)
        measured = (
            f"exponents {min(p.exponent for p in fitted):.3f} to {max(p.exponent for p in fitted):.3f} "
            f"over {len(rows)} fits, the farthest from -1/2 {worst}"
            if len(fitted) == len(rows)
            else f"no power law in {len(rows) - len(fitted)} of {len(rows)} cases"
        )
        numbers = {
            name: None if power is None else {"exponent": power.exponent, "interval": [power.low, power.high]}
            for name, power in rows
        }
        short = f"exponents {short_exponents(power for _, power in rows)}, {len(rows)} fits"
        return Judgement(holds, measured, {"exponents": numbers}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        for axis, source, error, title in (
            (axes[0], results, "sup_error", "random weights, sup over pairs"),
            (axes[1], results, "rms_error", "random weights, root mean square"),
            (axes[2], control, "rms_error", "control: Sobol weights, root mean square"),
        ):
            tables, widths = source["network"].tolist(), source["network.width"]
            tops = []
            for table, shade, mark in zip(tables, colours(len(tables)), cycle("os^D"), strict=False):
                values = source.select(error, {"network": table})
                power_line(axis, widths, values, shade, _name(table), f"{mark}-")
                tops.append(np.mean(values, axis=-1).max())
            reference_line(axis, widths, 1.5 * max(tops), RATE)
            axis.set(xlabel="number of features $m$", ylabel=r"$|\hat K - K|$", title=title)
            legend_below(axis, "fitted exponents")
        return fig


def _name(table: str) -> str:
    """``Gaussian features``, ``ReLU neurons``"""
    fields = json.loads(table)
    return f"{fields['kernel'].capitalize()} features" if "kernel" in fields else "ReLU neurons"


def _powers(results: Results, table: str) -> dict[str, PowerLaw | None]:
    return {name: fit_power(results["network.width"], results.select(name, {"network": table})) for name in ERRORS}
