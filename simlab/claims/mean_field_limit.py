"""In mean-field scaling training has a limit as the width grows, and neurons move in it. MATH §6–7.

f = (1/m) Σ a_j relu(w_j·x), the first m of one sequence of neurons, exact population flow on a ReLU teacher in the time
of particles (steps m times as long): no samples, so that the only noise is that of the m neurons. What they predict
differs from what the widest net, of M neurons, predicts by (1/m − 1/M)^{1/2} at every time: exactly so at the start,
where f is a mean of independent terms. The control scales by 1/√m, where f itself is random at any width.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._numbers import exponent_numbers, short_exponents
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.seeds import course
from simlab.figures.style import colours, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

Floats = NDArray[np.float64]
RATE = -0.5
TOLERANCE = 0.15
RISK_SHARE = 0.1  # of the risk at the start, at most left
LEAST_MOVEMENT = 0.1  # of the weights, relative to their norm

_SPEC = """
observables = ["risk", "predictions", "weight_movement"]
[experiment]
kind = "population_flow"
seed = 5
test_samples = {tests}
spacing = "listed"
at = {at}
[data]
kind = "uniform_sphere"
dim = 10
radius = 3.1622776601683795
[target]
kind = "relu_teacher"
neurons = 3
[network]
kind = "two_layer"
scaling = "mean_field"
[flow]
kind = "gradient_descent"
steps = {steps}
step = 0.1
step_unit = "particle"
[sweep]
"network.width" = {widths}
seeds = {seeds}
"""


class MeanFieldLimit(Claim):
    statement = (
        "In mean-field scaling the predictions of m neurons under the exact population flow converge as m grows, at "
        "every time, with fluctuations ~ m^(-1/2), while the neurons move and the risk falls."
    )
    source = "Deep equals shallow [S0] §1 (Chizat and Bach 2018; Mei, Montanari and Nguyen 2018)"
    expected = (
        "distance to the widest net ~ (1/m - 1/M)^(1/2): exponents in 1/(1/m - 1/M) within 0.15 of -1/2 at the start, "
        "on the way and at the end, where the risk has fallen to a tenth and the weights have moved by a tenth of "
        "their norm"
    )
    quick = _SPEC.format(tests=100, at=[20.0], steps=80, widths=[16, 32, 64, 128, 512], seeds=12)
    full = _SPEC.format(tests=500, at=[20.0, 80.0], steps=300, widths=[16, 32, 64, 128, 256, 1024], seeds=40)
    control = ('network.scaling="ntk"', 'flow.step_unit="absolute"', "sweep.seeds=4")

    def judge(self, results: Results) -> Judgement:
        powers = _powers(results)
        fitted = [power for power in powers if power is not None]
        widest = results["risk"][-1].mean(axis=0)
        fall, moved = float(widest[-1] / widest[0]), float(results["relative_movement"][-1, :, -1].mean())
        rates = len(fitted) == len(powers) and all(abs(power.exponent - RATE) <= TOLERANCE for power in fitted)
        measured = (
            f"exponents {', '.join(str(power) for power in powers)} at steps "
            f"{', '.join(map(str, _steps(results)))}; the widest net's risk fell to {fall:.3f} of its start, "
            f"its weights moved by {moved:.2f} of their norm"
        )
        numbers = {
            "steps": _steps(results).tolist(),
            "exponents": [exponent_numbers(p) for p in powers],
            "risk_ratio": fall,
            "relative_movement": moved,
        }
        short = f"exponents {short_exponents(powers)}; risk fell to {fall:.3f}"
        return Judgement(bool(rates and fall <= RISK_SHARE and moved >= LEAST_MOVEMENT), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        widths = results["network.width"].tolist()
        for width, risks, shade in zip(widths, results["risk"], colours(len(widths)), strict=True):
            look = {"color": shade, "label": f"$m = {width}$", "ms": 3, "lw": 1.2}
            course(axes[0], [_steps(results)] * len(risks), list(risks), "o-", log=True, **look)
        axes[0].set(
            yscale="log", xlabel="steps of size $0.1\\, m$", ylabel="population risk", title="mean-field scaling"
        )
        axes[0].legend(frameon=False, fontsize=8, title="mean over draws", title_fontsize=8)
        _lines(axes[1], results, "mean-field scaling")
        _lines(axes[2], control, r"control: scaled by $1/\sqrt{m}$")
        return fig


def _effective(results: Results) -> Floats:
    """1/(1/m − 1/M) of all widths but the widest, M."""
    widths = results["network.width"].astype(np.float64)
    return np.asarray(1.0 / (1.0 / widths[:-1] - 1.0 / widths[-1]))


def _distances(results: Results) -> Floats:
    """(records, widths − 1, seeds): root mean square over the test inputs of the distance to the widest net."""
    f = results["prediction"]  # (width, seed, record, input)
    found: Floats = np.sqrt(np.mean((f[:-1] - f[-1]) ** 2, axis=-1))
    return np.moveaxis(found, -1, 0)


def _powers(results: Results) -> list[PowerLaw | None]:
    return [fit_power(_effective(results), some) for some in _distances(results)]


def _steps(results: Results) -> NDArray[np.int64]:
    """The recorded steps, the same for all widths."""
    return np.asarray(results["step"][0, 0])


def _lines(axis: Axes, results: Results, title: str) -> None:
    widths, distances = _effective(results), _distances(results)
    for step, some, shade in zip(_steps(results), distances, colours(len(distances)), strict=True):
        power_line(axis, widths, some, shade, f"step {step}")
    reference_line(axis, widths, 1.5 * float(distances.mean(axis=-1).max()), RATE)
    axis.set(xlabel="$1/(1/m - 1/M)$", ylabel="distance to the widest net", title=title)
    tick_at(axis, widths)
    legend_below(axis, "fitted exponents")
