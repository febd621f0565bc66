"""Odd degrees above 1 are invisible to a shallow ReLU kernel without bias, and come back with depth. [S0], MATH §4.

At depth 2 κ is an even function plus a multiple of u: μ_k = 0 for odd k ≥ 3, exactly. From depth 3 on no eigenvalue
vanishes, and odd degrees fall behind even ones by the factor (c₊ − c₋)/(c₊ + c₋) of the end points. The control, a net
with biases, sees every degree at depth 2 already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._spectra import RELU_SPEC, decay_panels, kernels_of, label, number
from simlab.claims.claim import Claim, Judgement
from simlab.figures.style import RED, colours, paired_panels
from simlab.record.reader import Results

TOLERANCE = 0.01  # of odd over even, relative


class ReLUParity(Claim):
    statement = (
        "Without bias, ReLU's random-feature and tangent kernels have no odd degrees above 1 at depth 2, and have all "
        "of them from depth 3 on."
    )
    source = "Deep equals shallow [S0], sections 2 and 3"
    expected = (
        "depth 2: every odd eigenvalue from 3 on exactly 0, no other; depth 3 and more: none 0, odd over even within "
        "1 % of (c+ - c-)/(c+ + c-)"
    )
    quick = RELU_SPEC.format(degree=150, depths=[2, 3, 4, 6], dims=[3, 10])
    full = RELU_SPEC.format(degree=1000, depths=[2, 3, 4, 5, 6, 8, 10], dims=[3, 5, 10, 20])
    control = ("kernel.weight_std=1.4", "kernel.bias_std=0.5")

    def judge(self, results: Results) -> Judgement:
        rows: list[dict[str, Any]] = []
        right, worst = [], 0.0
        for at in kernels_of(results):
            log10 = results.select("log10_eigenvalue", at)
            degrees = np.arange(log10.size)
            zero, odd = log10 == -np.inf, (degrees % 2 == 1) & (degrees >= 3)
            row: dict[str, Any] = {
                "at": label(at),
                "zeros": int(np.count_nonzero(zero)),
                "odd_above_1": int(np.count_nonzero(odd)),
            }
            if at["kernel.depth"] == 2:
                right.append(bool(np.array_equal(zero, odd)))
            else:
                plus, minus = number(results, "at_plus_one", at), number(results, "at_minus_one", at)
                expected = (plus - minus) / (plus + minus)
                off = abs(_gap(results, at) / expected - 1) if not zero.any() else np.inf
                row |= {"odd_over_even": _gap(results, at), "expected": expected}
                right.append(bool(off <= TOLERANCE))
                worst = max(worst, off)
            rows.append(row)
        shallow = [row for row, at in zip(rows, kernels_of(results), strict=True) if at["kernel.depth"] == 2]
        measured = (
            f"depth 2: {sum(row['zeros'] for row in shallow)} eigenvalues exactly 0 where "
            f"{sum(row['odd_above_1'] for row in shallow)} should be; deeper: odd over even at most {worst:.1e} off; "
            f"{sum(right)} of {len(right)} kernels as claimed"
        )
        short = f"{sum(right)} of {len(right)} kernels as claimed"
        return Judgement(all(right), measured, {"kernels": rows}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, pairs = paired_panels(3)
        dim, degrees = int(results["experiment.dim"].max()), results["degree"]
        depths = results["kernel.depth"].tolist()
        shades = dict(zip(depths, colours(len(depths)), strict=True))
        for pair, source, depth, title in zip(
            pairs,
            (results, results, control),
            (2, 3, 2),
            ("depth 2: odd degrees vanish", "depth 3: none does", "control: depth 2 with bias"),
            strict=True,
        ):
            at = {"kernel.kind": "ntk", "kernel.depth": depth}
            decay_panels(pair, source, [(at, shades[depth], "even ●, odd ▲")], title)
            log10 = source.select("log10_eigenvalue", at | {"experiment.dim": dim})
            gone = degrees[(log10 == -np.inf)]
            floor = float(np.min(log10[np.isfinite(log10)])) - 1
            pair[0].plot(
                gone, np.full(gone.size, floor), "x", color=RED, ms=4, label="exactly 0" if gone.size else None
            )
            pair[0].legend(frameon=False, fontsize=8)
        return fig


def _gap(results: Results, at: dict[str, object]) -> float:
    """Odd over even at the largest degrees: μ_k over the geometric mean of its even neighbours, k odd."""
    log10 = results.select("log10_eigenvalue", at)
    k = len(log10) - 2 if len(log10) % 2 else len(log10) - 3
    return float(10.0 ** (log10[k] - 0.5 * (log10[k - 1] + log10[k + 1])))
