"""Over-parametrisation does not hurt the ResNet: test error against the width. [S3 §6], MATH §9.

With more weights than numbers to be fitted, and with many times more, the three-layer ResNet still learns αG(F): its
error stays below the line α² E‖G(F)‖², where nets too narrow have not even learned F. Step size and weight decay are
chosen on validation data at each width. In the control the second layer stays as drawn: no width helps.
"""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure as Picture

from simlab.claims import _learners
from simlab.claims.claim import Claim, Judgement
from simlab.figures.style import GREEN, panels
from simlab.record.reader import Results
from simlab.statistics.sweeps import setting

_WIDE = '"network.width" = {}'


class Overparametrisation(Claim):
    statement = (
        "The test error of the three-layer ResNet falls with the width until F and αG(F) are learned, and stays there "
        "however many more weights than samples there are."
    )
    source = "ResNet beyond kernels [S3] §6 (Allen-Zhu and Li 2019)"
    expected = (
        "error above the line k·α² at the smallest width, at most 0.7 of it at every width with more weights than "
        "numbers to fit"
    )
    quick = _learners.spec(
        _learners.descents("residual", (0.6, 1.0)),
        _learners.SMALL,
        seeds=4,
        more=_WIDE.format([10, 40, 100, 400]),
    )
    full = _learners.spec(
        _learners.descents("residual", (0.4, 0.6, 0.8, 1.0), (2.5e-4, 1e-3)),
        _learners.PUBLISHED,
        seeds=5,
        more=_WIDE.format([20, 50, 100, 200, 500, 1000, 2000, 5000]),
    )
    control = ("network.trained=first", "sweep.seeds=3")

    def judge(self, results: Results) -> Judgement:
        rows, level = _learners.best(results), _learners.line(results)
        found: list[dict[str, Any]] = [row.numbers() | {"over": _over(results, row.width)} for row in rows]
        wide = [row for row in found if row["over"] > 1.0]
        worst = max(row["error"] for row in wide)
        holds = found[0]["error"] > level and worst <= _learners.LEARNED_SHARE * level
        measured = (
            f"error over line: {found[0]['error'] / level:.2f} at width {found[0]['width']}, at most "
            f"{worst / level:.2f} with {wide[0]['over']:.1f} to {wide[-1]['over']:.1f} weights for each number to fit"
        )
        short = f"error/line {found[0]['error'] / level:.2f} narrow, {worst / level:.2f} at most wide"
        return Judgement(bool(holds), measured, {"line": level, "widths": found}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(2)
        for axis, source, title in (
            (axes[0], results, "both layers trained"),
            (axes[1], control, "control: second layer as drawn"),
        ):
            rows, level = _learners.best(source), _learners.line(source)
            _learners.against_width(axis, rows, level, title)
            edge = next(row.width for row in rows if _over(source, row.width) > 1.0)
            axis.axvspan(edge, rows[-1].width, color=GREEN, alpha=0.07, lw=0)
            axis.text(edge, 2 * level, " more weights than\n numbers to fit", fontsize=8, va="bottom")
            axis.text(rows[0].width, level, "$F$ alone", fontsize=8, va="bottom")
        low = min(axis.get_ylim()[0] for axis in axes)
        high = max(axis.get_ylim()[1] for axis in axes)
        for axis in axes:
            axis.set_ylim(low, high)
        axes[0].legend(frameon=False, fontsize=8, loc="lower left")
        return fig


def _over(results: Results, width: int) -> float:
    """Weights of a net (both layers and their biases) over numbers to be fitted."""
    dim, k, n = (
        int(setting(results, *key)) for key in (("data", "dim"), ("network", "outputs"), ("experiment", "samples"))
    )
    return width * (dim + k + 2) / (n * k)
