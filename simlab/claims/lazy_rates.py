"""Scaled up by α, a model hardly moves, and moves as its linearisation does. [S1 §5.3], MATH §6.

R_α(θ) = R(α f_θ)/α², with f_θ₀ = 0 by doubled neurons. On a fixed horizon sup_t ‖θ_α − θ₀‖ = O(1/α) and
sup_t ‖θ_α − θ_α^lin‖ = O(1/α²), on the same data and initialisation for every α. Exponents are fitted to means over
seeds; their intervals cover the seeds and the fit.

The second rate needs a Lipschitz gradient (Chizat, Oyallon and Bach), which that of a ReLU net is not: a weight that
moves by 1/α crosses the kink of a share ~ 1/α of the samples, each of which changes its gradient by O(1). Where that is
fewer than one sample per neuron, it is an error ~ α^(−1/2) in norm, thus α^(−3/2) of the trajectory, until at some α no
kink is crossed any more: there it drops, and goes on as α^(−2). So both exponents are judged for tanh, for ReLU the
first alone; its second is reported. In the control neurons are not doubled: α f_θ₀ grows with α, and the weights move
as far for every α.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._teacher import EDGE_DESCENT, TEACHER
from simlab.claims._two_rates import Rate, judge_two_rates
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.style import BLUE, BROWN, GREEN, PURPLE, panels
from simlab.record.reader import Results
from simlab.statistics.sweeps import last_or_largest

MOVEMENT_RATE, MOVEMENT_TOLERANCE = -1.0, 0.02
DISTANCE_RATE, DISTANCE_TOLERANCE = -2.0, 0.05

_SPEC = """
observables = ["train_loss", "weight_movement", "linear_distance"]
[experiment]
kind = "gradient_flow"
seed = 3
samples = {samples}
test_samples = 100
records = 21
"""
_SPEC += TEACHER + "width = {width}\ndoubled = true\n" + EDGE_DESCENT
_SPEC += """\
[sweep]
"network.activation" = ["tanh", "relu"]
"flow.alpha" = {{ logspace = [0.5, 3, {alphas}] }}
seeds = {seeds}
"""


class LazyRates(Claim):
    statement = (
        "As the output scale alpha grows, training on R(alpha f)/alpha^2 moves the weights by 1/alpha and stays within "
        "1/alpha^2 of training the linearised network, where the activation is smooth."
    )
    source = "A kernel viewpoint [S1] §5.3 (Chizat, Oyallon and Bach 2019)"
    expected = (
        "exponents in alpha, with their 95 % intervals: -1 of the movement (tanh and ReLU) within 0.02, -2 of the "
        "distance to the linearised trajectory (tanh) within 0.05; the latter of ReLU, whose kinks are crossed, is "
        "not judged"
    )
    quick = _SPEC.format(samples=30, width=60, steps=100, alphas=6, seeds=5)
    full = _SPEC.format(samples=200, width=400, steps=1000, alphas=11, seeds=20)
    control = ("network.doubled=false",)

    def judge(self, results: Results) -> Judgement:
        return judge_two_rates(
            results,
            "flow.alpha",
            "alpha",
            Rate("movement", "weight_movement", "movement", lambda p, _: p.within(MOVEMENT_RATE, MOVEMENT_TOLERANCE)),
            Rate(
                "distance",
                "linear_weight_distance",
                "from the linearised one",
                lambda p, _: p.within(DISTANCE_RATE, DISTANCE_TOLERANCE),
            ),
        )

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        alpha = results["flow.alpha"]
        sides = (
            (axes[0], results, ("weight_movement",), MOVEMENT_RATE, r"$\sup\, \|\theta - \theta_0\|$"),
            (
                axes[1],
                results,
                ("linear_weight_distance",),
                DISTANCE_RATE,
                r"$\sup\, \|\theta - \theta_{\mathrm{lin}}\|$",
            ),
            (axes[2], control, ("weight_movement", "linear_weight_distance"), None, "control: $f$ not 0 at the start"),
        )
        for axis, source, names, exponent, title in sides:
            tops = []
            for i, activation in enumerate(source["network.activation"].tolist()):
                for name in names:
                    values = last_or_largest(source, name, {"network.activation": activation})
                    what = f"{activation}, {'movement' if name == 'weight_movement' else 'distance'}"
                    line = 2 * i + (name == "linear_weight_distance" and exponent is None)
                    look = (
                        (BLUE, BROWN, GREEN, PURPLE)[line],
                        activation if exponent else what,
                        ("o-", "s-", "D--", "^--")[line],
                    )
                    power_line(axis, alpha, values, *look)
                    tops.append(float(np.nanmax(values.mean(axis=1))))
            if exponent is not None:
                reference_line(axis, alpha, 2 * max(tops), exponent)
            axis.set(xlabel=r"output scale $\alpha$", ylabel="largest distance up to the horizon", title=title)
            legend_below(axis, "fitted exponents")
        return fig
