"""Low degrees are learned first, each at the rate of the tangent kernel's eigenvalue. [S1 §5–6], MATH §4–6.

On the sphere, with many samples and a wide net in the linear regime, the residual's part of degree k contracts by 1 −
ημ_k per step, μ_k the eigenvalue of the infinite-width tangent kernel: its power by (1 − ημ_k)². For every degree of
the target the logarithm of that power, measured on test inputs, is fitted by a line through its start while the power
is above `FITTED_SHARE` of it; the ratio of the slope to 2 log|1 − ημ_k| is 1 if the claim is right. Low degrees first:
the number of steps to halve a degree's power rises with the degree. In mean-field scaling (the control) the net learns
features, its kernel changes, and the rates are others.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._numbers import short_range
from simlab.claims.claim import Claim, Judgement
from simlab.figures.degree_decay import decay_lines
from simlab.figures.style import panels
from simlab.record.reader import Results
from simlab.statistics.degrees import degrees_present, predicted_slope
from simlab.statistics.means import standard_error
from simlab.statistics.power_law import slope_through_origin

TOLERANCE = 0.2  # of measured over predicted rate, about 1
FITTED_SHARE = 0.3  # rates are fitted until a power has fallen to this share of its start

_SPEC = """
[[observables]]
kind = "residual_power"
max_degree = 4
limit = true
[[observables]]
kind = "train_loss"
[experiment]
kind = "gradient_flow"
seed = 5
samples = {samples}
test_samples = 2000
records = 31
spacing = "log"
[data]
kind = "uniform_sphere"
dim = 3
[target]
kind = "gegenbauer"
degrees = [1, 2, 4]
directions = 8
[network]
kind = "two_layer"
width = {width}
doubled = true
[flow]
kind = "gradient_descent"
steps = {steps}
step = {step}
step_unit = "edge"
alpha = 30.0
[sweep]
seeds = {seeds}
"""


class LowDegreesFirst(Claim):
    statement = (
        "Gradient descent of a wide net learns the low-degree parts of a target first: the residual's power in degree "
        "k falls at the rate of the tangent kernel's eigenvalue at that degree."
    )
    source = "A kernel viewpoint [S1] §5-6; spectral bias (Cao et al. 2021; Basri et al. 2019)"
    expected = (
        "fitted rate / predicted rate, mean over seeds, within 20 % of 1 at every degree; half-lives rise with it"
    )
    quick = _SPEC.format(samples=1500, width=800, steps=120, step=0.25, seeds=4)
    full = _SPEC.format(samples=8000, width=4000, steps=400, step=0.1, seeds=10)
    # Shorter steps: the kernel grows, and with it the edge of stability comes nearer.
    control = ('network.scaling="mean_field"', "flow.alpha=1.0", "flow.step=0.05")

    def judge(self, results: Results) -> Judgement:
        degrees = degrees_present(results["residual_power"], results["residual_power_error"])
        seeds = results["seed"].tolist()
        found = {k: np.array([_rates(results, seed, k) for seed in seeds]) for k in degrees}
        ratios = {k: rows[:, 0] / rows[:, 1] for k, rows in found.items()}
        means = {k: float(np.mean(values)) for k, values in ratios.items()}
        half = [float(np.median(rows[:, 2])) for rows in found.values()]
        ordered = all(a < b for a, b in pairwise(half)) and len(half) > 1
        holds = ordered and all(abs(mean - 1.0) <= TOLERANCE for mean in means.values())
        error = {k: float(standard_error(v)) if len(v) > 1 else 0.0 for k, v in ratios.items()}
        text = ", ".join(f"degree {k} {means[k]:.3f} ± {error[k]:.3f}" for k in degrees)
        steps = ", ".join(f"{value:g}" for value in half)
        numbers = {
            "ratio": {str(k): ratios[k].tolist() for k in degrees},
            "half_life": {
                str(k): value if np.isfinite(value) else None for k, value in zip(degrees, half, strict=True)
            },
        }
        measured = f"measured/predicted rate: {text}; power halved after {steps} steps"
        short = f"rates {short_range(means.values())} of predicted, {'in' if ordered else 'out of'} order"
        return Judgement(bool(holds), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(2)
        for axis, source, title in (
            (axes[0], results, "NTK scaling, linear regime"),
            (axes[1], control, "control: mean-field scaling"),
        ):
            decay_lines(axis, source, [{"seed": seed} for seed in source["seed"].tolist()])
            axis.set_title(title)
        return fig


def _rates(results: Results, seed: int, degree: int) -> tuple[float, float, float]:
    """(slope of log power per step, predicted slope, steps until the power is halved) of one seed."""
    at = {"seed": seed}
    power: NDArray[np.float64] = results.select("residual_power", at)[:, degree]
    step = results.select("step", at).astype(np.float64)
    share = power / power[0]
    below = np.flatnonzero(~(share > FITTED_SHARE))
    end = max(2, int(below[0])) if below.size else len(share)
    x, y = step[1:end], np.log(np.maximum(share[1:end], 1e-300))
    expected = predicted_slope(results, at, degree)
    assert expected is not None  # what the specs observe
    halved = np.flatnonzero(~(share > 0.5))
    return slope_through_origin(x, y), expected, float(step[halved[0]]) if halved.size else float("inf")
