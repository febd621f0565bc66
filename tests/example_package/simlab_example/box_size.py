"""Inputs uniform on the box [−1, 1]^d have E‖x‖² = d/3. In the control the box is larger."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims import Claim, Judgement
from simlab.figures.style import CONTROL_COLOUR, MEASURED, panels
from simlab.record.reader import Results

SPEC = """
[experiment]
kind = "input_size"
samples = {samples}
seed = 1
[data]
kind = "uniform_box"
dim = 3
[sweep]
"data.dim" = [3, 6, 12]
"""


class BoxSize(Claim):
    statement = "Inputs uniform on the box [−1, 1]^d have the mean square size d/3."
    source = "an integral"
    expected = "3 (1/n) Σ ‖x_i‖² / d within 5 % of 1 in every dimension"
    quick = SPEC.format(samples=2000)
    full = SPEC.format(samples=20000)
    control = ("data.half_width=1.5",)

    def judge(self, results: Results) -> Judgement:
        ratios = 3 * results["mean_square"] / results["data.dim"]
        worst = float(np.max(np.abs(ratios - 1)))
        words = f"largest deviation from d/3: {worst:.1%}"
        return Judgement(worst < 0.05, words, {"worst": worst}, words)

    def figure(self, results: Results, control: Results) -> Picture:
        figure, (axis,) = panels(1)
        axis.plot(results["data.dim"], results["mean_square"], "o-", color=MEASURED, label="half width 1")
        axis.plot(control["data.dim"], control["mean_square"], "s--", color=CONTROL_COLOUR, label="control: 1.5")
        axis.set(xlabel="dimension $d$", ylabel="mean of $|x|^2$")
        axis.legend(frameon=False)
        return figure
