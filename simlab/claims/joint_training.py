"""Layers must be trained together: one after the other they do not clean each other's signal. [S3 §7], MATH §9.

The first layer alone sees F corrupted by αG(F), and fits what it can of the latter as noise; a second layer trained
after it finds G of a corrupted F. Trained together each round leaves the other a cleaner signal. The control trains
the first layer, then the second, each with half of the steps and the whole schedule of the step size.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from simlab.claims import _learners
from simlab.claims.claim import Claim, Judgement
from simlab.figures.seeds import band
from simlab.figures.style import CONTROL_COLOUR, GUIDE, MEASURED, panels
from simlab.record.reader import Results


class JointTraining(Claim):
    statement = (
        "Training both hidden layers of a ResNet together learns F + αG(F); training them one after the other leaves "
        "most of αG(F)."
    )
    source = "ResNet beyond kernels [S3] §1, §7 (Allen-Zhu and Li 2019)"
    expected = "mean test error at most 0.7 of the line k·α² of having learned F alone, at the best step"
    quick = _learners.spec(_learners.descents("residual", (0.3, 0.6, 1.0)), _learners.SMALL, seeds=6)
    full = _learners.spec(
        _learners.descents("residual", (0.2, 0.4, 0.6, 0.8), (2.5e-4, 5e-4)),
        _learners.PUBLISHED,
        seeds=5,
    )
    control = ("flow.layerwise=true",)

    def judge(self, results: Results) -> Judgement:
        row, level = _learners.best(results)[0], _learners.line(results)
        measured = (
            f"error {row.error:.3f} (seeds {row.errors.min():.3f} to {row.errors.max():.3f}) at step {row.step:g}, "
            f"{row.error / level:.2f} of the line {level:.3f}; {row.composed.mean():.2f} of αG(F) learned"
        )
        short = f"error {row.error / level:.2f} of the line"
        return Judgement(
            bool(row.error <= _learners.LEARNED_SHARE * level), measured, {"line": level, **row.numbers()}, short
        )

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (left, right) = panels(2)
        level = _learners.line(results)
        for source, colour, style, label in (
            (results, MEASURED, "o-", "together"),
            (control, CONTROL_COLOUR, "s--", "control: one after the other"),
        ):
            steps, decays = source["flow.step"].tolist(), source["flow.weight_decay"].tolist()
            x = [
                f"{step:g}" if len(set(decays)) == 1 else f"{step:g}\n{1e4 * decay:g}e-4"
                for step, decay in zip(steps, decays, strict=True)
            ]
            for axis, name in ((left, "test_error"), (right, "learned_composed")):
                values = _learners.table(source, name)[:, 0]
                band(axis, range(len(x)), values, colour)
                axis.plot(range(len(x)), values.mean(axis=1), style, ms=5, lw=1.2, color=colour, label=label)
                axis.set_xticks(range(len(x)), x)
                axis.set_xlabel("step size" if len(set(decays)) == 1 else "step size and weight decay")
        left.axhline(level, color="k", ls=":", lw=1.2, label="$F$ alone")
        left.axhline(_learners.LEARNED_SHARE * level, color=GUIDE, lw=0.8)
        left.set(yscale="log", ylabel=r"test error $\mathrm{E}\|f - H\|^2$", title="error at the end")
        right.set(ylabel=r"part of $\alpha G(F)$ learned", title=r"what of $\alpha G(F)$ is learned", ylim=(0, 1.05))
        left.legend(frameon=False, fontsize=8, loc="lower left")
        return fig
