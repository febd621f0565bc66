"""No trained two-layer net goes below the certificate of its width. [S2] §5.1, MATH §8.

Nets of Gaussian neurons with biases (bounded, as the law's tail asks), trained on the ball's indicator, in full from
two dimensions to ten and to 4096 neurons: E(f−g)² on held-out inputs is compared with the certificate of the width at
every record, less three standard errors. It counts as evidence only where the nets have learned: in every dimension the
best must leave less than half of what the best constant leaves. (A ball inside a shell of the other sign is beyond them
at d = 10: half of its variance is left at 256 to 4096 neurons, 2.4 times the certificate or more.) The control has a
second hidden layer over as many neurons in the first, of which the certificate says nothing, and goes below it.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims.claim import Claim, Judgement
from simlab.core.parsing import choose
from simlab.figures.style import colours, panels, tick_at
from simlab.record.reader import Results
from simlab.sphere.ball_law import BallLaw

Floats = NDArray[np.float64]
STANDARD_ERRORS = 3.0  # by which a measured error may lie below the certificate
LEARNED_SHARE = 0.5  # of what the best constant leaves
MASS = 0.4  # of the law, inside the unit ball
RADII = 20_000  # quantiles of the radius
BALL = '{ kind = "ball", radius = 1.0 }'

_SPEC = """
observables = ["test_error"]
[experiment]
kind = "radial_flow"
seed = 6
dtype = "{dtype}"
samples = {samples}
test_samples = {tests}
records = 5
[data]
kind = "ball_fourier"
mass = {mass}
[network]
kind = "two_layer"
activation = "gaussian"
bias = true
[flow]
kind = "momentum"
step = 1.0
steps = {steps}
[sweep]
"data.dim" = {dims}
target = [{targets}]
"network.width" = {widths}
"""


class CertificateHolds(Claim):
    statement = "No trained two-layer net has an error below the certificate of its width; nets of three layers do."
    source = "Depth separation [S2] §5.1: lemmas on tubes and radial functions (Eldan and Shamir 2016)"
    expected = (
        "test error + 3 standard errors above the certificate at every record of every net, while in every dimension "
        "the best net leaves less than half of the variance of the target"
    )
    quick = _SPEC.format(
        dtype="float64",
        samples=2048,
        tests=4096,
        steps=200,
        mass=MASS,
        dims=[2, 3, 5],
        targets=BALL,
        widths=[4, 16, 64],
    )
    full = _SPEC.format(
        dtype="float32", samples=8192, tests=32768, steps=400, mass=MASS, dims=[2, 3, 5, 7, 10],
        targets=BALL, widths=[16, 256, 4096],
    )  # fmt: skip
    control = (
        'network={ kind = "mlp", depth = 3, activation = "gaussian", weight_std = 1.5, bias_std = 1.0 }',
        "experiment.samples=2048",
        "flow.step=0.7",
        "flow.steps=1000",
        "sweep.data.dim=[3]",
        f"sweep.target=[{BALL}]",
        "sweep.network.width=[8, 10]",
    )

    def judge(self, results: Results) -> Judgement:
        bound, error, spread = (_ordered(results, name) for name in ("certificate", "test_error", "test_error_se"))
        if not (np.all(np.isfinite(error)) and np.all(bound > 0)):
            said = "a net diverged, or a certificate is 0"
            return Judgement(False, f"{said}: nothing is shown", {"certificates": bound.tolist()}, said)
        above = error + STANDARD_ERRORS * spread - bound[..., None]
        dims, tables = results["data.dim"].tolist(), [json.loads(text) for text in results["target"].tolist()]
        constant = np.array([[variance(dim, table) for table in tables] for dim in dims])
        left = error[..., -1].min(axis=2) / constant
        lowest = float((error / bound[..., None]).min())
        measured = (
            f"lowest test error {lowest:.2f} times the certificate over {bound.size} nets, d = {dims[0]} to "
            f"{dims[-1]}; the best nets leave {100 * left.min():.0f} to {100 * left.max():.0f} % of the variance"
        )
        numbers = {"lowest_ratio": lowest, "least_margin": float(above.min()), "left_of_variance": left.tolist()}
        short = f"error {lowest:.2f} x the certificate or more"
        return Judgement(bool(np.all(above >= 0) and np.all(left < LEARNED_SHARE)), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        dims = results["data.dim"].tolist()
        fig, axes = panels(len(dims) + 1)
        tables = [json.loads(text) for text in results["target"].tolist()]
        for i, (dim, axis) in enumerate(zip(dims, axes, strict=False)):
            for k, (table, shade) in enumerate(zip(tables, colours(len(tables) + 1), strict=False)):
                _compare(axis, results, (i, k), shade, table["kind"])
            axis.set_title(f"two layers, $d = {dim}$")
        _compare(axes[-1], control, (0, 0), colours(2)[0], "ball")
        axes[-1].set(title=f"control: three layers, $d = {control['data.dim'].tolist()[0]}$", xlim=(4, 20))
        low = min(float(source["certificate"].min()) for source in (results, control))
        for axis in axes:
            axis.set(xscale="log", yscale="log", xlabel="neurons of the first layer", ylim=(0.6 * low, 0.4))
        for axis, source in zip(axes, [results] * len(dims) + [control], strict=True):
            tick_at(axis, source["network.width"])
        axes[0].set_ylabel(r"$\mathrm{E}(f - g)^2$")
        axes[0].legend(frameon=False, fontsize=8)
        axes[-1].legend(frameon=False, fontsize=8)
        return fig


def _ordered(results: Results, name: str) -> Floats:
    """(dim, target, width) and what is left; a sweep may have its axes of tables last."""
    order = ["data.dim", "target", "network.width"]
    return np.moveaxis(results[name], [results.dims[name].index(key) for key in order], [0, 1, 2])


def variance(dim: int, table: dict[str, Any]) -> float:
    """Var g(x): what the best constant leaves; exact but for 20 000 quantiles of the radius."""
    target = choose("targets", table, "target")
    function = target.draw(dim, np.random.default_rng(0))
    return float(np.var(function.profile(BallLaw.of_mass(dim, MASS).stratified(RADII))))


def _compare(axis: Any, results: Results, at: tuple[int, int], shade: Any, name: str) -> None:
    widths, bound = results["network.width"], _ordered(results, "certificate")[at]
    error, spread = (_ordered(results, name)[at][:, -1] for name in ("test_error", "test_error_se"))
    axis.errorbar(
        widths, error, STANDARD_ERRORS * spread, fmt="o-", ms=4, capsize=2, lw=1, color=shade, label=f"{name}: trained"
    )
    axis.plot(widths, bound, "--", lw=1.2, color=shade, label=f"{name}: certificate")
    axis.fill_between(widths, bound, 1e-9, color=shade, alpha=0.08)
