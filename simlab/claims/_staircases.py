"""What the claims about staircases share: which degrees must be learned at a size, and the verdict. MATH §7."""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims import _spectra
from simlab.claims.claim import Judgement
from simlab.figures.curves import label, stairs
from simlab.figures.style import BLUE, RED, panels
from simlab.record.reader import Results
from simlab.statistics.sweeps import mean_over_seeds, points_of

FEATURES_SPEC = """
activation = {{ kind = "relu" }}
[experiment]
kind = "staircase"
dim = {dim}
seed = 1
learner = "{learner}"
bias = -0.5
[sweep]
"experiment.size" = {sizes}
seeds = {seeds}
"""

LEARNED_SHARE = 0.3
UNLEARNED_SHARE = 0.55
"""Shares of a degree's power left, mean over seeds and targets; at d = 20 to 40 the steps are not yet sharp."""


def judge_staircase(results: Results, above: int = 0) -> Judgement:
    """Between d^ℓ and d^(ℓ+1) the degrees up to ℓ + above are learned and no others."""
    rows: list[dict[str, Any]] = []
    for at in points_of(results, "exponent", ("seed",)):
        exponent = float(mean_over_seeds(results, "exponent", at)[0])
        share = mean_over_seeds(results, "unlearned", at)[0]
        last = floor(exponent) + above
        for degree, left in zip(results["degree"].tolist(), share.tolist(), strict=True):
            rows.append(
                {"at": _spectra.label(at), "exponent": exponent, "degree": degree, "must": degree <= last, "left": left}
            )
    most = max((row["left"] for row in rows if row["must"]), default=np.inf)
    least = min((row["left"] for row in rows if not row["must"]), default=-np.inf)
    holds = bool(most <= LEARNED_SHARE and least >= UNLEARNED_SHARE)
    measured = (
        f"of degrees that must be learned at most {most:.3f} of the power is left, of the others at least {least:.3f}, "
        f"over {len(rows)} degrees and sizes"
    )
    short = f"power left {most:.3f} (learned), {least:.3f} (others)"
    return Judgement(holds, measured, {"shares": rows}, short)


def draw_staircase(results: Results, control: Results, what: str, title: str, control_title: str) -> Picture:
    sides = [
        (results, at, ", ".join(filter(None, [title, label(at)])))
        for at in points_of(results, "unlearned", ("seed", _size(results)))
    ]
    sides += [(control, at, "") for at in list(points_of(control, "unlearned", ("seed", _size(control))))[:1]]
    fig, axes = panels(len(sides))
    for axis, (source, at, text) in zip(axes, sides, strict=True):
        stairs(axis, source, at, what)
        axis.axhspan(-0.05, LEARNED_SHARE, color=BLUE, alpha=0.07, lw=0)
        axis.axhspan(UNLEARNED_SHARE, 1.25, color=RED, alpha=0.07, lw=0)
        small: dict[str, Any] = {"transform": axis.transAxes, "fontsize": 8, "color": "0.35"}
        axis.text(0.02, 0.02, f"to be learned: ≤ {LEARNED_SHARE}", va="bottom", **small)
        axis.text(0.02, 0.98, f"to be left: ≥ {UNLEARNED_SHARE}", va="top", **small)
        axis.set_title(f"control: {control_title}" if source is control else text, fontsize=10)
    axes[0].legend(frameon=False, fontsize=8, loc="upper right")
    return fig


def _size(results: Results) -> str:
    return results.dims["experiment.size"][0]
