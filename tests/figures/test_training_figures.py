"""sharpening draws 2/η of each step size; beside_kernels draws the levels of the kernels that were recorded."""

from __future__ import annotations

import numpy as np
import pytest

from simlab import figures
from tests.support.stand_in_results import StandInResults

ETAS = [10.0, 40.0]
RECORDS = 3


def test_sharpening() -> None:
    """Two eigenvalues are recorded, the largest is drawn; the levels are at 2/η."""
    sharpness = np.arange(1.0, 13.0).reshape(2, RECORDS, 2)
    loss = 1.0 / np.arange(1.0, 7.0).reshape(2, RECORDS)
    results = StandInResults(
        {"flow.step": ETAS, "eigenvalue": [0, 1]},
        {
            "sharpness": (("flow.step", "record", "eigenvalue"), sharpness),
            "train_loss": (("flow.step", "record"), loss),
            "step": (("flow.step", "record"), np.tile([0, 5, 10], (2, 1))),
            "step_size": (("flow.step",), ETAS),
        },
    )
    left, right = figures.get("sharpening").draw(results).axes
    drawn = [np.asarray(line.get_ydata(), dtype=float).tolist() for line in left.lines if np.size(line.get_ydata())]
    assert [1.0, 3.0, 5.0] in drawn
    assert [7.0, 9.0, 11.0] in drawn
    for eta in ETAS:
        assert [2 / eta, 2 / eta] in drawn
    assert [text.get_text() for text in left.get_legend().get_texts()] == [r"$\eta = 10$", r"$\eta = 40$", r"$2/\eta$"]
    assert [np.asarray(line.get_ydata()).tolist() for line in right.lines] == loss.tolist()


def trained(limit: bool) -> StandInResults:
    """A sweep over two widths; margins at two quantiles, no sharpness, no drift."""
    along, once = ("network.width", "record"), ("network.width",)
    kernels = {"start": 0.90, "end": 0.95} | ({"limit": 0.91} if limit else {})
    return StandInResults(
        {"network.width": [8, 16], "quantile": [0.0, 0.5]},
        {
            "step": (along, np.tile([0, 5, 10], (2, 1))),
            "train_accuracy": (along, np.full((2, RECORDS), 0.99)),
            "test_accuracy": (along, np.full((2, RECORDS), 0.96)),
            "margin": ((*along, "quantile"), np.ones((2, RECORDS, 2))),
            **{f"{name}_kernel_accuracy": (once, [level] * 2) for name, level in kernels.items()},
            **{f"{name}_kernel_accuracy_se": (once, [0.01] * 2) for name in kernels},
        },
    )


@pytest.mark.parametrize("limit", [False, True])
def test_beside_kernels(limit: bool) -> None:
    picture = figures.get("beside_kernels").draw(trained(limit))
    accuracy, margin = picture.axes
    levels = {round(float(y[0]), 6) for line in accuracy.lines if len(y := np.asarray(line.get_ydata())) == 2}
    assert levels == {90.0, 95.0} | ({91.0} if limit else set())
    words = [text.get_text() for text in accuracy.get_legend().get_texts()]
    assert words[:2] == ["$m = 8$", "$m = 16$"]
    assert ("infinite width, test" in words) is limit
    assert [text.get_text() for text in margin.get_legend().get_texts()] == ["least", "quantile 0.5"]
