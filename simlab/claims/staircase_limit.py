"""One-pass SGD on z₁ + z₁z₂ + z₁z₂z₃ comes to the dimension-free dynamics as the dimension grows. MATH §9.

Two-layer nets of mean-field scaling, σ(x) = relu(x + 1), 8 d neurons, steps ∝ 1/d and batches ∝ d, up to a fixed time;
beside them the exact dynamics from the same a_j. The mean square distance of the two functions has parts from

- the noise of SGD in the coordinates that do not count, of the order d·step/batch: here 1/d;
- the neurons, of the order 1/width, and the start, u of order d^(−1/2) and w·x not quite Gaussian: both 1/d;
- the length of the steps, of the order step²: 1/d².

The control keeps the batches at 4: step ∝ 1/d alone leaves the first part as it is at every d.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._numbers import exponent_numbers, short_exponent
from simlab.claims.claim import Claim, Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.seeds import course
from simlab.figures.style import BLUE, colours, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power

Floats = NDArray[np.float64]
RATE, LOWEST_RATE, HIGHEST_RATE, LOSS_SHARE = -1.0, -1.5, -0.75, 0.5

_SPEC = """
observables = ["test_loss"]
[experiment]
kind = "merged_staircase"
seed = 9
samples = 16
test_samples = {tests}
records = 7
dtype = "float32"
limit_step = 0.1
[data]
kind = "boolean_cube"
[target]
kind = "staircase"
steps = 3
[network]
kind = "two_layer"
activation = {{ kind = "shifted", of = "relu", shift = 1.0 }}
scaling = "mean_field"
doubled = true
inner_std = "unit"
[flow]
kind = "sgd"
fresh = true
step_unit = "particle"
[sweep]
"data.dim" = {dims}
"network.width" = {widths}
"flow.step" = {step}
"flow.steps" = {steps}
"flow.batch" = {batches}
zip = [["data.dim", "network.width", "flow.step", "flow.steps", "flow.batch"]]
seeds = {seeds}
"""


def _spec(dims: list[int], tests: int, seeds: int, batch: int) -> str:
    """To the time 6 by steps of 0.8/d."""
    return _SPEC.format(
        dims=dims,
        widths=[8 * d for d in dims],
        step=[0.8 / d for d in dims],
        steps=[15 * d // 2 for d in dims],
        batches=[batch * d for d in dims],
        tests=tests,
        seeds=seeds,
    )


class StaircaseLimit(Claim):
    statement = (
        "One-pass SGD of two-layer mean-field nets on a staircase of three coordinates among d agrees with the "
        "dimension-free dynamics as d grows: steps ~ 1/d with batches ~ d, and as wide as d, leave a distance ~ 1/d."
    )
    source = "Depth separation [S2], merged staircase (Abbe, Boix-Adserà and Misiakiewicz 2022), MATH §9"
    expected = (
        "exponent in d of the mean square distance to the exact dynamics, mean over the records: -1, at small d "
        "somewhat below, so between -1.5 and -0.75; it falls from every d to the next, and the loss falls to half or "
        "less"
    )
    quick = _spec([16, 24, 36, 56], tests=1000, seeds=4, batch=2)
    full = _spec([16, 32, 64, 128], tests=4000, seeds=16, batch=4)
    control = ("sweep.flow.batch=[4, 4, 4, 4]", "sweep.seeds=2")

    def judge(self, results: Results) -> Judgement:
        power, means = _power(results), _distances(results).mean(axis=1)
        left = float((results["test_loss"][..., -1] / results["test_loss"][..., 0]).max())
        falls = bool(np.all(np.diff(means) < 0.0))
        near = power is not None and LOWEST_RATE <= power.exponent <= HIGHEST_RATE
        dims = results["data.dim"]
        measured = (
            f"exponent {power}; mean square distance {means[0]:.2g} at d = {dims[0]}, {means[-1]:.2g} at d = {dims[-1]}"
            f"{'' if falls else ', not falling throughout'}; {left:.2g} of the loss left"
        )
        numbers = {
            "exponent": exponent_numbers(power),
            "distances": means.tolist(),
            "left": left,
        }
        short = f"exponent {short_exponent(power)}, {left:.2g} of the loss left"
        return Judgement(bool(near and falls and left <= LOSS_SHARE), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        dims = results["data.dim"].tolist()
        t = results["time"][0, 0] / results["network.width"][0]
        for i, (dim, shade) in enumerate(zip(dims, colours(len(dims)), strict=True)):
            curves = list(results["test_loss"][i])
            course(axes[0], [t] * len(curves), curves, "o-", color=shade, label=f"SGD, $d = {dim}$", ms=3, lw=1)
        axes[0].plot(t, results["loss_limit"][-1, 0], "k--", lw=1.3, label="exact dynamics")
        axes[0].set(xlabel="time of particles", title="$z_1 + z_1z_2 + z_1z_2z_3$, mean over draws")
        axes[0].set_ylabel(r"loss $\frac{1}{2}\mathrm{E}(f^* - f)^2$")
        axes[0].legend(frameon=False, fontsize=8)
        _fit(axes[1], results, r"steps $\propto 1/d$, batches $\propto d$")
        _fit(axes[2], control, r"control: steps $\propto 1/d$, batches of 4")
        return fig


def _distances(results: Results) -> Floats:
    """(dimensions, seeds): the mean over the records after the first, where both are 0."""
    found: Floats = results["distance"][..., 1:].mean(axis=-1)
    return found


def _power(results: Results) -> PowerLaw | None:
    return fit_power(results["data.dim"], _distances(results))


def _fit(axis: Axes, results: Results, title: str) -> None:
    dims = results["data.dim"]
    power_line(axis, dims, _distances(results), BLUE, "fit")
    reference_line(axis, dims, 1.5 * float(_distances(results)[0].mean()), RATE)
    axis.set(xlabel="dimension $d$", ylabel=r"mean of $(f_{\mathrm{SGD}} - f_{\mathrm{exact}})^2$", title=title)
    tick_at(axis, dims)
    legend_below(axis, "")
