"""A wide network is its linearisation, all along training. [S1 §5.2] (Lee et al. 2019), MATH §6.

With output scale m^(−1/2) each neuron moves by O(m^(−1/2)), so that sup_t of the distance between the predictions of
the net and of its linearisation, on test inputs, is O(m^(−1/2)) (Lee et al.): this bound is what is claimed. It falls
faster, since output weights of either sign cancel in the next order: like 1/m for a smooth activation. Weights do not
cancel: ‖θ − θ_lin‖² ~ m · (1/m)², so m^(−1/2) in norm. For ReLU a share ~ m^(−1/2) of the neurons crosses its kink at a
given input, each with an error ~ m^(−1/2) of its preactivation and a random sign:
m^(−1/2) · (m · m^(−1/2))^(1/2) · m^(−1/2) = m^(−3/4) of predictions.
In the control the output scale is 1/m (mean field): neurons move by O(1), however many there are.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims._teacher import EDGE_DESCENT, TEACHER
from simlab.claims._two_rates import Rate, judge_two_rates
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.style import BLUE, BROWN, GREEN, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw
from simlab.statistics.sweeps import last_or_largest

BOUND_RATE = -0.5
PREDICTION_RATES, PREDICTIONS_TOLERANCE = {"tanh": -1.0, "relu": -0.75}, 0.2
WEIGHTS_RATE, WEIGHTS_TOLERANCE = -0.5, 0.15

_SPEC = """
observables = ["train_loss", "linear_distance"]
[experiment]
kind = "gradient_flow"
seed = 9
samples = 20
test_samples = {test_samples}
records = 21
"""
_SPEC += TEACHER + EDGE_DESCENT
_SPEC += """\
[sweep]
"network.activation" = ["tanh", "relu"]
"network.width" = {widths}
seeds = {seeds}
"""


class LinearisedWidth(Claim):
    statement = (
        "As the width m grows, a network in the NTK scaling and its linearisation, trained alike, predict the same at "
        "all times: their distance is O(m^(-1/2))."
    )
    source = "A kernel viewpoint [S1] §5.2 (Lee et al. 2019)"
    expected = (
        "95 % intervals of the exponent of the distance of predictions below -1/2, the exponent within 0.2 of -1 "
        "(tanh) and -3/4 (ReLU); that of the weights' distance (tanh) within 0.15 of -1/2"
    )
    quick = _SPEC.format(test_samples=100, steps=30, widths=[64, 128, 256, 512, 1024], seeds=8)
    full = _SPEC.format(test_samples=1000, steps=100, widths=[4**k for k in range(3, 8)], seeds=40)
    control = ('network.scaling="mean_field"', "sweep.seeds=4")

    def judge(self, results: Results) -> Judgement:
        return judge_two_rates(
            results,
            "network.width",
            "m",
            Rate("predictions", "linear_test_distance", "predictions", _falls_as_claimed),
            Rate(
                "weights",
                "linear_weight_distance",
                "weights",
                lambda power, _: abs(power.exponent - WEIGHTS_RATE) <= WEIGHTS_TOLERANCE,
            ),
        )

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        width = results["network.width"]
        sides = (
            (axes[0], results, "linear_test_distance", "predictions on test inputs"),
            (axes[1], results, "linear_weight_distance", "weights"),
            (axes[2], control, "linear_test_distance", "control: mean-field scaling, predictions"),
        )
        for axis, source, name, title in sides:
            tops = []
            for i, activation in enumerate(source["network.activation"].tolist()):
                values = last_or_largest(source, name, {"network.activation": activation})
                power_line(axis, width, values, (BLUE, BROWN, GREEN)[i], activation, ("o-", "s--", "^-.")[i])
                tops.append(float(np.nanmax(values.mean(axis=1))))
            reference_line(axis, width, 1.5 * max(tops), BOUND_RATE)
            axis.set(xlabel="width $m$", ylabel="largest distance from the linearised net", title=title)
            tick_at(axis, width)
            legend_below(axis, "fitted exponents")
        return fig


def _falls_as_claimed(power: PowerLaw, activation: str) -> bool:
    """Faster than the bound, and at the rate of this activation."""
    return power.high < BOUND_RATE and abs(power.exponent - PREDICTION_RATES[activation]) <= PREDICTIONS_TOLERANCE
