"""A three-layer ResNet learns F + αG(F) beyond the line kα² that kernels do not reach. [S3 §1, §6], MATH §9.

Allen-Zhu and Li's experiment: x uniform on the cube, F products of pairs of coordinates, G products of four of these,
α = 0.3. Who has learned F alone has the error α² E‖G(F)‖² = kα², "the line". Step size and weight decay of nets and the
ridge of kernel machines are chosen on validation data. The ResNet goes below the line; nets of two layers, the exact
tangent kernels of the nets and the kernels of their last layers stay above. (Three layers without the skip are shown,
not judged: they cross it too.) In the control the second layer of the ResNet stays as it was drawn.

At their own size (k = 8, d = 30, N = 1000; line 0.72) the published errors are 0.10 to 0.29 for the ResNet, 0.92 to
1.07 for two layers, never below 1.4 for kernels, by an exhaustive search.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims import _learners
from simlab.claims._learners import Best, descents, machines
from simlab.claims.claim import Claim, Judgement
from simlab.figures.style import panels
from simlab.record.reader import Results

_FORMS = ("residual", "two_layer")
_QUICK = [*descents("residual", (0.6, 1.0)), *descents("two_layer", (0.1, 0.6)), *machines(_FORMS)]
_QUICK += descents("plain", (0.6,))
_RATES = (0.4, 0.6, 0.8, 1.0, 1.4)
_FULL = [
    *descents("residual", _RATES, (2.5e-4, 1e-3)),
    *descents("two_layer", (0.1, 0.3), (1e-3, 3e-3)),
    *machines(("residual", "plain", "two_layer")),
    *descents("plain", _RATES, (2.5e-4, 1e-3)),
]
_WIDTHS = '"network.width" = [100, 300, 1000, 3000, 10000, 30000, 100000]'


class ResNetBeyondKernels(Claim):
    statement = (
        "A three-layer ResNet trained by SGD learns both parts of F + αG(F); two-layer nets, tangent kernels and last "
        "layers on the same samples learn no more than F: their error stays above k·α²."
    )
    source = "ResNet beyond kernels [S3] §1, §6 (Allen-Zhu and Li 2019)"
    expected = "mean test error of the ResNet below the line k·α² at every width, of every rival above it"
    quick = _learners.spec(_QUICK, _learners.SMALL, seeds=3, ridges=[1e-1, 3e-1])
    full = _learners.spec(_FULL, _learners.PUBLISHED, seeds=5, more=_WIDTHS, ridges=[1e-4, 1e-3, 1e-2, 1e-1, 1.0])
    control = ("network.trained=first", "sweep.seeds=2")

    def judge(self, results: Results) -> Judgement:
        net, rivals = _split(results)
        level = _learners.line(results)
        worst, nearest = max(row.error for row in net), min(rivals, key=lambda row: row.error)
        kernels = min(row.error for row in rivals if row.learner != "descent")
        holds = worst < level < nearest.error
        measured = (
            f"error of the {net[0].name} {worst:.3f} at most (best seed {min(row.errors.min() for row in net):.3f}), "
            f"line {level:.3f}; best rival {nearest.error:.3f} ({nearest.name}), best kernel {kernels:.3f}"
        )
        numbers = {"line": level, "net": [row.numbers() for row in net], "rivals": [row.numbers() for row in rivals]}
        short = f"error {worst:.3f}, line {level:.3f}, best rival {nearest.error:.3f}"
        return Judgement(bool(holds), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(2)
        for axis, source, title in (
            (axes[0], results, "the net: ResNet"),
            (axes[1], control, "control: second layer not trained"),
        ):
            rows, level = _learners.best(source), _learners.line(source)
            if not rows[0].width:
                _learners.bars(axis, rows, level, title)
            else:
                _learners.against_width(axis, rows, level, title)
                axis.legend(frameon=False, fontsize=8)
        both = [*axes[0].get_xlim(), *axes[1].get_xlim()]
        for axis in axes:
            axis.set_xlim(min(both), max(both))
        return fig


def _split(results: Results) -> tuple[list[Best], list[Best]]:
    """The learner of the first setting, and its rivals."""
    rows = _learners.best(results)
    first = rows[0].learner, rows[0].form
    net = [row for row in rows if (row.learner, row.form) == first]
    rivals = [row for row in rows if (row.learner, row.form) not in (first, ("descent", "plain"))]
    return net, rivals
