"""On MNIST, depth changes the accuracy of ReLU kernels hardly at all. [S0, experiments], MATH §3, §5.

Kernel ridge regression with the random-feature (nngp) and the tangent kernel (ntk) of depths 2 to 5, the ridge of each
chosen on validation images, the accuracy measured on test images: kernels whose eigenvalues fall alike learn alike.
The control has depth 1 among its depths, the linear kernel, which is another class of functions.

Needs the files of MNIST; without them it is not run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture

from simlab.claims.claim import Claim, Judgement
from simlab.core.errors import BadInput
from simlab.data import images
from simlab.data.directory import data_directory
from simlab.figures.style import CONTROL_COLOUR, colours, panels
from simlab.record.reader import Results
from simlab.statistics.sweeps import setting

MOST_POINTS = 0.5  # of per cent, between the accuracies of all depths

_SPEC = """
[experiment]
kind = "real_data"
seed = 1
threads = {threads}
train = {train}
validation = {validation}
test = {test}
ridges = {ridges}
tolerance = {tolerance}
rank = {rank}
[data]
kind = "images"
[kernel]
kind = "nngp"
[sweep]
"kernel.kind" = ["nngp", "ntk"]
"kernel.depth" = {depths}
"""


class MNISTDepth(Claim):
    statement = (
        "On MNIST, ReLU kernels of depths 2 to 5 classify equally well, random-feature and tangent kernels alike."
    )
    source = "Deep equals shallow [S0], experiments on MNIST"
    expected = "test accuracies of one family at most 0.5 points apart over depths 2 to 5"
    quick = _SPEC.format(
        threads=1, train=3000, validation=500, test=5000, ridges=[1e-4, 1e-5], tolerance=1e-3, rank=300, depths=[2, 5]
    )
    full = _SPEC.format(
        threads=2,
        train=50000,
        validation=10000,
        test=10000,
        ridges=[1e-2, 1e-3, 1e-4, 1e-5],
        tolerance=1e-4,
        rank=2000,
        depths=[2, 3, 4, 5],
    )
    control = ('sweep.kernel.kind=["nngp"]', "sweep.kernel.depth=[1, 2]")

    def data_needed(self) -> str | None:
        """What to give, in a sentence, where MNIST is not there."""
        try:
            images.Images().find_all()
        except BadInput as error:
            missing = f" ({error})" if data_directory() else ""
            return (
                "it needs MNIST: give --data DIR or SIMLAB_DATA, with train-images-idx3-ubyte, "
                f"train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, gzipped or not, in "
                f"DIR/mnist or DIR{missing}"
            )
        return None

    def judge(self, results: Results) -> Judgement:
        depths = results["kernel.depth"].tolist()
        kinds = results["kernel.kind"].tolist()
        # (kinds, depths), as in the specs
        accuracy = {kind: (100 * results.select("test_accuracy", {"kernel.kind": kind})).tolist() for kind in kinds}
        spreads = {kind: max(values) - min(values) for kind, values in accuracy.items()}
        parts = [
            f"{kind} {min(accuracy[kind]):.2f} to {max(accuracy[kind]):.2f} % ({spread:.2f} points apart)"
            for kind, spread in spreads.items()
        ]
        measured = f"test accuracy over depths {', '.join(map(str, depths))}: {'; '.join(parts)}"
        short = f"{max(spreads.values()):.2f} points apart over the depths"
        return Judgement(
            bool(max(spreads.values()) <= MOST_POINTS), measured, {"depth": depths, "test_accuracy": accuracy}, short
        )

    def figure(self, results: Results, control: Results) -> Picture:
        fig, (axis,) = panels(1)
        names = {"nngp": "random features", "ntk": "tangent kernel"}
        kinds = results["kernel.kind"].tolist()
        for kind, shade, mark in zip(kinds, colours(len(kinds)), "os", strict=True):
            error = 100 * (1 - results.select("test_accuracy", {"kernel.kind": kind}))
            spread = 100 * results.select("test_spread", {"kernel.kind": kind})
            look: dict[str, Any] = {
                "fmt": f"{mark}-",
                "ms": 5,
                "capsize": 2,
                "color": shade,
                "label": names.get(kind, kind),
            }
            axis.errorbar(results["kernel.depth"], error, spread, **look)
        error = 100 * (1 - np.ravel(control["test_accuracy"]))
        spread = 100 * np.ravel(control["test_spread"])
        depths = " and ".join(map(str, control["kernel.depth"].tolist()))
        text = f"control: random features, depths {depths} (1: linear)"
        axis.errorbar(control["kernel.depth"], error, spread, fmt="x--", capsize=2, color=CONTROL_COLOUR, label=text)
        size = setting(results, "experiment", "train")
        title = "MNIST, kernel ridge regression" + (f", $n = {size}$" if size else "")
        axis.set(xlabel="depth $L$", ylabel="test error in %", ylim=(0, None))
        axis.set_title(title, fontsize=10)
        axis.set_xticks(sorted({*results["kernel.depth"].tolist(), *control["kernel.depth"].tolist()}))
        axis.legend(frameon=False, fontsize=8)
        return fig
