"""z₁ + z₁z₂ + z₁z₂z₃ is learned, by the dimension-free dynamics and by one-pass SGD at finite dimension. MATH §9.

Two-layer nets of mean-field scaling, σ(x) = relu(x + 1), on x uniform on {±1}^d; beside them the exact dynamics from
the same a_j. Each monomial opens the way to the next: leap 1. The control leaves z₁z₂ out: z₁ + z₁z₂z₃ has leap 2,
u₂ = u₃ = 0 stay exactly 0, and the exact dynamics stop at the loss ½ of z₁z₂z₃. SGD at finite d starts from u of order
d^(−1/2) instead and leaves that saddle (up to d = 100, with a_j of size 2, as soon as it learns the staircase): its
loss alone would not tell the two targets apart, its distance to the exact dynamics does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims.claim import Claim, Judgement
from simlab.figures.seeds import course
from simlab.figures.style import CONTROL_COLOUR, MEASURED, colours, panels
from simlab.record.reader import Results
from simlab.statistics.sweeps import setting

Floats = NDArray[np.float64]
# Losses at the end: of the exact dynamics and of SGD, as shares of the first; of the former also, from LATE_TIME on,
# as it is. Mean square distance of the two, as a share of E f*².
EXACT_SHARE, SGD_SHARE, LATE_LOSS, LATE_TIME, DISTANCE_SHARE = 0.03, 0.06, 2e-5, 300.0, 0.03
MONOMIALS = ("z₁", "z₁z₂", "z₁z₂z₃")

_SPEC = """
observables = ["test_loss"]
[experiment]
kind = "merged_staircase"
seed = 5
samples = 16
test_samples = {tests}
records = {records}
dtype = "float32"
limit_step = 0.1
[data]
kind = "boolean_cube"
dim = {dim}
[target]
kind = "monomials"
terms = [[0], [0, 1], [0, 1, 2]]
coefficients = [1.0, 1.0, 1.0]
[network]
kind = "two_layer"
width = {width}
activation = {{ kind = "shifted", of = "relu", shift = 1.0 }}
scaling = "mean_field"
doubled = true
init_std = 2.0
inner_std = "unit"
[flow]
kind = "sgd"
fresh = true
steps = {steps}
step = 0.1
step_unit = "particle"
batch = {batch}
[sweep]
seeds = {seeds}
"""


class MergedStaircase(Claim):
    statement = (
        "Two-layer mean-field nets learn the merged staircase z1 + z1z2 + z1z2z3: the exact dynamics of infinitely "
        "many dimensions and one-pass SGD at finite dimension, the one near the other."
    )
    source = "Depth separation [S2], merged staircase (Abbe, Boix-Adserà and Misiakiewicz 2022), MATH §9"
    expected = (
        "at the end the loss of the exact dynamics is below 3 % of that of f = 0 (below 2e-5 where they go to time "
        "300), that of SGD below 6 %, and their mean square distance below 3 % of E f*²"
    )
    quick = _SPEC.format(tests=2000, records=26, dim=30, width=200, steps=500, batch=250, seeds=2)
    full = _SPEC.format(tests=10000, records=61, dim=100, width=1000, steps=3000, batch=1000, seeds=4)
    control = ("target.coefficients=[1.0, 0.0, 1.0]",)

    def judge(self, results: Results) -> Judgement:
        exact, sgd = results["loss_limit"][:, -1], results["test_loss"][:, -1]
        apart = results["distance"][:, -1]
        nothing = float(results["loss_limit"][:, 0].mean())  # f = 0: doubled neurons
        end = float(_times(results)[-1])
        least = min(EXACT_SHARE * nothing, LATE_LOSS) if end >= LATE_TIME else EXACT_SHARE * nothing
        leap = int(results["leap"].flat[0])
        good = bool(
            np.all(exact <= least)
            and np.all(sgd <= SGD_SHARE * nothing)
            and np.all(apart <= DISTANCE_SHARE * 2 * nothing)
        )
        measured = (
            f"leap {leap}; at time {end:g} losses, from {nothing:.3g}: exact {exact.max():.2g}, SGD {sgd.max():.2g} at "
            f"worst of {sgd.size} seeds; mean square distance {apart.max():.2g}"
        )
        numbers: dict[str, Any] = {
            "leap": leap,
            "time": end,
            "start": nothing,
            "exact": exact.tolist(),
            "sgd": sgd.tolist(),
            "distance": apart.tolist(),
        }
        short = f"of the first loss: exact {exact.max() / nothing:.2g}, SGD {sgd.max() / nothing:.2g}"
        return Judgement(good, measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        staircase, gap = "$z_1 + z_1z_2 + z_1z_2z_3$", "$z_1 + z_1z_2z_3$"
        for source, shade, mark, text in (
            (results, MEASURED, "o", staircase),
            (control, CONTROL_COLOUR, "s", f"control: {gap}"),
        ):
            t, curves = _times(source), list(source["test_loss"])
            look: dict[str, Any] = {"log": True, "lw": 1.2, "marker": mark, "ms": 3.5, "markevery": 0.12}
            course(axes[0], [t] * len(curves), curves, color=shade, label=f"{text}, SGD", **look)
            axes[0].plot(t, source["loss_limit"][0], "--" if mark == "o" else "-.", color=shade, lw=1.6)
        axes[0].plot([], [], "k--", label="exact dynamics")
        axes[0].set(yscale="log", xlabel="time of particles", title="losses")
        axes[0].set_ylabel(r"loss $\frac{1}{2}\mathrm{E}(f^* - f)^2$")
        axes[0].set_ylim(top=12.0)
        axes[0].legend(frameon=False, fontsize=8, loc="upper right")
        _coefficients(axes[1], results, f"{staircase}, $d = {setting(results, 'data', 'dim')}$")
        _coefficients(axes[2], control, f"control: {gap}")
        return fig


def _times(results: Results) -> Floats:
    """The time of particles at the records, the same of every seed."""
    width = setting(results, "network", "width")
    found: Floats = results["time"].reshape(-1, results["time"].shape[-1])[0] / width
    return found


_TEX = {ord(digit): f"_{i}" for i, digit in enumerate("₁₂₃", start=1)}


def _coefficients(axis: Axes, results: Results, title: str) -> None:
    t = _times(results)
    for k, (name, shade, mark) in enumerate(zip(MONOMIALS, colours(3), "os^", strict=True)):
        curves = list(results["coefficient"][:, :, k])
        look: dict[str, Any] = {"color": shade, "label": f"${name.translate(_TEX)}$", "marker": mark}
        course(axis, [t] * len(curves), curves, lw=1.2, ms=3.5, markevery=0.12, **look)
        axis.plot(t, results["coefficient_limit"][0, :, k], "--", color=shade, lw=1.6)
    axis.plot([], [], "k--", label="exact dynamics")
    axis.set(xlabel="time of particles", ylabel="coefficient of $f$", title=title, ylim=(-0.15, 1.75))
    axis.legend(frameon=False, fontsize=8, loc="upper center", ncols=2)
