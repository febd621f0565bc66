"""How many samples: about d for the ResNet, about d^k for the best kernel. [S3 §4], MATH §9.

The separation class: F(x) the k coordinates of an unknown set, G their product, repeated. The samples N that bring
the error E‖f − H‖², summed over the outputs, down to α², interpolated on a grid of N, grow like a power of d: 1 or less
for the ResNet, to which F tells the coordinates, near k for kernels, which must tell one product among C(d, k). The
kernel is the best of several at every N, each with the ridge that validation data choose. In the control all learners
are shown the right coordinates alone: then d makes no difference to kernels.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp, inf, log
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from simlab.claims._learners import ERROR
from simlab.claims.claim import Claim, Judgement
from simlab.figures.style import BLUE, BROWN, colours, panels, tick_at
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw, fit_power
from simlab.statistics.sweeps import setting

Floats = NDArray[np.float64]
LEAST_DIFFERENCE = 1.0  # of the exponents of kernel and ResNet
MOST_EXPONENT = 1.8  # of the ResNet

_SPEC = """
[experiment]
kind = "rivals"
seed = 1
validation_samples = {validation}
test_samples = {test}
ridges = [1e-3, 1e-1]
dtype = "float32"
[data]
kind = "boolean_cube"
[target]
kind = "separation"
size = 3
alpha = 0.5
factor = 1.0
[network]
kind = "resnet3"
outputs = 3
width = {width}
[flow]
kind = "sgd"
batch = 24
step = 0.3
momentum = 0.9
weight_decay = 2.5e-4
schedule = "piecewise"
steps = {steps}
drop_steps = [{half}]
drop_factors = [0.1]
[sweep]
"experiment.label" = {labels}
"experiment.learner" = {learners}
"experiment.samples" = {samples}
kernel = {kernels}
zip = [["experiment.label", "experiment.learner", "experiment.samples", "kernel"]]
"data.dim" = {dims}
seeds = {seeds}
"""
_NTK, _GAUSSIAN = '{ kind = "ntk", depth = 3 }', '{ kind = "gaussian", c = 0.08 }'
_LAPLACE, _RF = '{ kind = "laplace", c = 0.1 }', '{ kind = "nngp", depth = 3 }'


def _spec(of_net: list[int], of_kernel: list[int], kernels: list[str], **fields: Any) -> str:
    each = [("descent", n, kernels[0]) for n in of_net] + [("kernel", n, k) for k in kernels for n in of_kernel]
    learners, samples, chosen = zip(*each, strict=True)
    return _SPEC.format(
        labels=[f"{learner} {i}" for i, learner in enumerate(learners)], learners=list(learners),
        samples=list(samples), kernels=f"[{', '.join(chosen)}]", half=fields["steps"] // 2, **fields,
    )  # fmt: skip


class ResNetSamples(Claim):
    statement = (
        "To learn F + αG(F) of the separation class to an error of α² a three-layer ResNet needs about d samples, the "
        "best kernel about d^k."
    )
    source = "ResNet beyond kernels [S3] §4 (Allen-Zhu and Li 2019)"
    expected = "fitted exponent of the kernel at least 1 above that of the ResNet, which is at most 1.8; k = 3"
    quick = _spec(
        [24, 48, 96, 192], [100, 200, 400, 800], [_NTK, _GAUSSIAN],
        width=60, steps=3000, dims=[8, 11, 15], seeds=2, validation=300, test=1000,
    )  # fmt: skip
    full = _spec(
        [24, 48, 96, 192, 384, 768], [100, 200, 400, 800, 1600, 3200, 6400], [_NTK, _RF, _LAPLACE, _GAUSSIAN],
        width=100, steps=8000, dims=[8, 11, 15, 20, 25], seeds=5, validation=1000, test=4000,
    )  # fmt: skip
    control = ("experiment.coordinates=target", "sweep.seeds=1")

    def judge(self, results: Results) -> Judgement:
        needed, fits = _needed(results), _fits(results)
        numbers: dict[str, Any] = {"dims": results["data.dim"].tolist()}
        numbers |= {name: [n if np.isfinite(n) else None for n in found.tolist()] for name, found in needed.items()}
        net, kernel = fits["descent"], fits["kernel"]
        if net is None or kernel is None:
            return Judgement(
                False,
                f"an error of α² is not reached at every d: {numbers}",
                numbers,
                "alpha^2 is not reached at every d",
            )
        numbers |= {"exponents": {"descent": net.exponent, "kernel": kernel.exponent}}
        holds = (
            kernel.exponent - net.exponent >= LEAST_DIFFERENCE
            and net.exponent <= MOST_EXPONENT
            and np.all(needed["descent"] < needed["kernel"])
        )
        dims = results["data.dim"]
        measured = (
            f"N ~ d^{net.exponent:.2f} for the ResNet ({needed['descent'][0]:.0f} to {needed['descent'][-1]:.0f} "
            f"samples), d^{kernel.exponent:.2f} for the best kernel ({needed['kernel'][0]:.0f} to "
            f"{needed['kernel'][-1]:.0f}), d = {dims[0]} to {dims[-1]}"
        )
        short = f"N ~ d^{net.exponent:.2f} (ResNet), d^{kernel.exponent:.2f} (best kernel)"
        return Judgement(bool(holds), measured, numbers, short)

    def figure(self, results: Results, control: Results) -> Picture:
        fig, axes = panels(3)
        _errors(axes[0], results, r"$k = 3$ (dotted: $\alpha^2$)")
        axes[0].legend(frameon=False, fontsize=8)
        _errors(axes[1], control, "control: right coordinates given")
        for source, marks, text in ((results, ("o", "s"), ""), (control, ("^", "v"), "control: ")):
            dims, fits = source["data.dim"], _fits(source)
            for (name, needed), mark, colour in zip(_needed(source).items(), marks, (BLUE, BROWN), strict=True):
                fit = fits[name]
                label = text + {"descent": "ResNet", "kernel": "best kernel"}[name]
                label += "" if fit is None else f", $d^{{{round(fit.exponent, 2) + 0.0:.2f}}}$"
                axes[2].plot(dims, needed, mark, ms=5, color=colour, mfc=colour if not text else "none", label=label)
                if fit is not None:
                    axes[2].plot(dims, fit(dims), "-" if not text else ":", lw=1, color=colour)
        axes[2].set(
            xscale="log",
            yscale="log",
            xlabel="dimension $d$",
            ylabel=r"samples to an error of $\alpha^2$",
            title="samples needed",
        )
        tick_at(axes[2], results["data.dim"])
        axes[2].legend(frameon=False, fontsize=8)
        return fig


def _curves(results: Results) -> dict[str, tuple[Floats, Floats]]:
    """Of net and best kernel: N ascending, and errors : (N, d), means over seeds."""
    learner, n = results["experiment.learner"], results["experiment.samples"]
    error = np.nan_to_num(np.asarray(results["test_error"], dtype=np.float64).mean(axis=2), nan=inf)
    found = {}
    for name in ("descent", "kernel"):
        sizes = np.unique(n[learner == name])
        each = [error[(learner == name) & (n == size)].min(axis=0) for size in sizes]
        found[name] = np.asarray(sizes, dtype=np.float64), np.stack(each)
    return found


def _crossing(n: Floats, errors: Floats, level: float) -> float:
    """N at which the error falls below the level: at the first grid point, between two, or never."""
    if errors[0] <= level:
        return float(n[0])
    for (n_0, e_0), (n_1, e_1) in pairwise(zip(n, errors, strict=True)):
        if e_1 <= level:
            share = log(e_0 / level) / log(e_0 / e_1) if np.isfinite(e_0) else 1.0
            return exp(log(n_0) + share * log(n_1 / n_0))
    return inf


def _needed(results: Results) -> dict[str, Floats]:
    level = _level(results)
    return {
        name: np.array([_crossing(n, errors[:, j], level) for j in range(errors.shape[1])])
        for name, (n, errors) in _curves(results).items()
    }


def _level(results: Results) -> float:
    """α²"""
    return float(setting(results, "target", "alpha")) ** 2


def _fits(results: Results) -> dict[str, PowerLaw | None]:
    return {name: fit_power(results["data.dim"], found) for name, found in _needed(results).items()}


def _errors(axis: Axes, results: Results, title: str) -> None:
    dims = results["data.dim"].tolist()
    for name, style, text in (("descent", "o-", "ResNet"), ("kernel", "s--", "best kernel")):
        n, errors = _curves(results)[name]
        for j, shade in enumerate(colours(len(dims))):
            axis.plot(n, errors[:, j], style, ms=4, lw=1.2, color=shade, label=f"{text}, $d = {dims[j]}$")
    axis.axhline(_level(results), color="k", lw=1, ls=":")
    axis.set(xscale="log", yscale="log", xlabel="samples $N$", ylabel=ERROR, title=title)
    tick_at(axis, sorted({size for n, _ in _curves(results).values() for size in np.asarray(n).tolist()}))
