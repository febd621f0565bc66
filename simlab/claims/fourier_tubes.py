"""In the plane: a two-layer net lies in the tubes of its neurons, a radial target does not. MATH §8.

f = Σ_j a_j tanh(w_j·x + b_j) trained on signed shells under the law φ²: (fφ)^ lies in ∪_j span(w_j) + R_d B (tubes of
the trained directions, by a transform in the plane), while gφ has energy outside, and E(f − g)² is at least that. The
control is a three-layer net, which is no sum of functions of one direction: it leaves the tubes of its first layer.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims.claim import Claim, Judgement
from simlab.figures.fourier_tubes import draw_pair, panel_rows
from simlab.record.reader import Results

LEAST_TARGET_SHARE, MOST_NET_SHARE = 0.02, 1e-4  # of the energy outside the tubes

_SPEC = """
observables = [{{ kind = "fourier_picture", extent = 4.0, pixels = {pixels}, grid = {grid} }}]
[experiment]
kind = "gradient_flow"
seed = 5
samples = {samples}
records = 2
[data]
kind = "ball_fourier"
dim = 2
mass = "natural"
radii = "stratified"
directions = "frames"
[target]
kind = "shells"
outer = 2.4
count = 8
[network]
kind = "two_layer"
width = 4
activation = "tanh"
bias = true
scaling = "none"
init_std = 2.0
[flow]
kind = "gradient_descent"
steps = {steps}
step = 0.05
[sweep]
seeds = {seeds}
"""


class FourierTubes(Claim):
    statement = (
        "Times φ, a two-layer network has its Fourier transform in the tubes span(w_j) + R_d B about its neurons' "
        "directions, whatever its activation, while a radial target does not: its energy outside bounds the error."
    )
    source = "Depth separation [S2] §5.1 (Eldan and Shamir 2016)"
    expected = (
        "less than 1e-4 of the energy of fφ outside the tubes before and after training (what taper and grid leave), "
        "more than 0.02 of that of gφ, and E(f - g)^2 never below the latter"
    )
    quick = _SPEC.format(pixels=81, grid=1024, samples=500, steps=400, seeds=3)
    full = _SPEC.format(pixels=161, grid=2048, samples=8000, steps=4000, seeds=10)
    control = (
        'network={ kind = "three_layer_mean_field", width = 4, init_std = 4.0 }',
        "flow.step=0.01",
        'flow.step_unit="particle"',
    )

    def judge(self, results: Results) -> Judgement:
        net, target, bound, error = (
            results[name] for name in ("net_outside", "target_outside", "outside_energy", "squared_error")
        )
        first, last = (float(np.mean(error[:, record])) for record in (0, -1))
        holds = (
            np.all(net <= MOST_NET_SHARE) and np.all(target >= LEAST_TARGET_SHARE) and np.all(error >= bound)
        )  # NaN: no
        measured = (
            f"outside the tubes: at most {net.max():.2g} of the energy of fφ, at least {target.min():.3f} of that of "
            f"gφ; E(f - g)² from {first:.3g} to {last:.3g} in training, at least {np.min(error / bound):.2f} times "
            "the bound"
        )
        numbers = {
            "net_outside": float(net.max()),
            "target_outside": float(target.min()),
            "error_by_bound": float(np.min(error / bound)),
        }
        short = f"outside the tubes: net {net.max():.2g}, target {target.min():.3f}"
        return Judgement(bool(holds), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panel_rows(2)
        for row, some, name in zip(axes, (results, control), ("two layers", "control, three layers"), strict=True):
            draw_pair(fig, row, some, {"seed": some["seed"][0]}, name)
        return fig
