"""For the step activation depth does change the decay: k^{−d−2^{2−L}+1} at depth L. [S0], MATH §4.

The step's dual is a function of √(1−u), so every layer halves the exponent ν = 2^{1−L} of the singularity at u = 1. The
control is ReLU, whose exponent is the same at all depths.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._spectra import decay_panels, kernels_of, label, number, over_predicted
from simlab.claims.claim import Claim, Judgement
from simlab.figures.style import CONTROL_COLOUR, MEASURED, colours, panels
from simlab.record.reader import Results

EXPONENT_TOLERANCE = 0.02
CONSTANT_TOLERANCE = 0.02
LAST_DEGREES = 4  # whose eigenvalues are compared with the predicted ones

_SPEC = """
[experiment]
kind = "spectrum"
seed = 1
max_degree = {degree}
[kernel]
kind = "nngp"
activation = "step"
[sweep]
"kernel.depth" = {depths}
"experiment.dim" = {dims}
"""


class StepDepth(Claim):
    statement = (
        "Eigenvalues of the step's random-feature kernel fall like k^(-d-2^(2-L)+1): slower at every further layer."
    )
    source = "Deep equals shallow [S0], section 3 (step activations)"
    expected = (
        "fitted exponents within 0.02 of d + 2^(2-L) - 1, the intervals of different depths apart, eigenvalue over "
        "prediction within 2 % of 1 at the largest degrees"
    )
    quick = _SPEC.format(degree=200, depths=[2, 3, 4], dims=[3, 10])
    full = _SPEC.format(degree=1000, depths=[2, 3, 4, 5], dims=[3, 5, 10])
    control = ("kernel.activation=relu",)

    def judge(self, results: Results) -> Judgement:
        rows, off, constants, apart = [], [], [], True
        intervals: dict[int, list[tuple[float, float]]] = {}
        for at in kernels_of(results):
            decay, low, high = (number(results, name, at) for name in ("decay", "decay_low", "decay_high"))
            ratio = over_predicted(results, at)
            off.append(abs(decay - (at["experiment.dim"] + 2.0 ** (2 - at["kernel.depth"]) - 1)))
            constants.append(np.abs(ratio[np.isfinite(ratio)][-LAST_DEGREES:] - 1).max())
            others = intervals.setdefault(at["experiment.dim"], [])
            apart &= all(high < other_low or other_high < low for other_low, other_high in others)
            others.append((low, high))
            rows.append(
                {"at": label(at), "decay": decay, "interval": [low, high], "constant_off": float(constants[-1])}
            )
        holds = max(off) <= EXPONENT_TOLERANCE and max(constants) <= CONSTANT_TOLERANCE and apart
        measured = (
            f"exponents at most {max(off):.3f} off, intervals of different depths {'apart' if apart else 'overlap'}, "
            f"constants at most {max(constants):.1e} off, over {len(off)} kernels"
        )
        short = f"exponents {max(off):.3f} off, intervals {'apart' if apart else 'overlap'}"
        return Judgement(bool(holds), measured, {"kernels": rows}, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(5)
        depths = results["kernel.depth"].tolist()
        kernels = [
            ({"kernel.depth": d}, shade, f"depth {d}") for d, shade in zip(depths, colours(len(depths)), strict=True)
        ]
        decay_panels((axes[0], axes[3]), results, kernels, "step")
        decay_panels((axes[1], axes[4]), control, kernels, "control: ReLU")
        for axis in axes[:2]:
            axis.legend(frameon=False, fontsize=8)
        for source, colour, mark, name in (
            (results, MEASURED, "o", "step"),
            (control, CONTROL_COLOUR, "s", "control: ReLU"),
        ):
            for i, d in enumerate(source["experiment.dim"].tolist()):
                ats = [{"kernel.depth": depth, "experiment.dim": d} for depth in depths]
                decay, low, high = (
                    [number(source, n, at) - d for at in ats] for n in ("decay", "decay_low", "decay_high")
                )
                error = [np.subtract(decay, low), np.subtract(high, decay)]
                shifted, text = np.array(depths) + 0.08 * i, None if i else name
                axes[2].errorbar(shifted, decay, error, fmt=mark, mfc="none", color=colour, ms=5, capsize=3, label=text)
        axes[2].plot(depths, [2.0 ** (2 - depth) - 1 for depth in depths], "k--", lw=1, label="$2^{2-L} - 1$")
        axes[2].set(
            xlabel="depth $L$", ylabel="fitted exponent $- d$", title="decay exponents, every $d$", xticks=depths
        )
        axes[2].legend(frameon=False, fontsize=8)
        return fig
