"""Tangent rate: the fitted rate of the loss over the predicted one, at the widest net."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, judged
from tests.support.stand_in_results import StandInResults


def losses(rate: float, rise: float = 1.0, power: tuple[float, float] = (1.0, 1.0)) -> StandInResults:
    """Two widths, two seeds, eigenvalues 0.1 and 1, step 0.5; the loss falls at `rate` times the predicted rate.

    rise: factor of the loss at step 3.
    power: of the residual in either mode.
    """
    step, axes = np.arange(200), ("network.width", "seed")
    loss = 0.5 * np.exp(rate * 2 * np.log(1 - 0.05) * step) * np.where(step == 3, rise, 1.0)
    recorded = {
        "step": ((*axes, "record"), step),
        "train_loss": ((*axes, "record"), loss),
        "tangent_eigenvalue": ((*axes, "mode"), [0.1, 1.0]),
        "tangent_power": ((*axes, "mode"), power),
        "step_size": (axes, 0.5),
    }
    every = {name: (dims, np.broadcast_to(one, (2, 2, *np.shape(one)))) for name, (dims, one) in recorded.items()}
    return StandInResults({"network.width": [10, 100], "seed": [0, 1]}, every)


@pytest.mark.parametrize(
    ("rate", "rise", "holds"),
    [(1.0, 1.0, True), (0.95, 1.0, True), (0.85, 1.0, False), (1.15, 1.0, False), (0.0, 1.0, False), (1.0, 9.0, False)],
)
def test_judge(rate: float, rise: float, holds: bool) -> None:
    assert_judged("tangent_rate", losses(rate, rise), holds)


def test_without_a_rate_to_fit() -> None:
    """The slowest mode never carries the loss."""
    judgement = judged("tangent_rate", losses(1.0, power=(0.0, 1.0)))
    assert judgement.holds is False
    assert "no rate to fit at 2 of 2 seeds" in judgement.measured
