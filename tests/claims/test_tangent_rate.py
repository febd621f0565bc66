"""The judge of the tangent rate says yes and no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import claims
from simlab.claims import Judgement


class Made(dict[str, Any]):
    """Results made up for a judge: two widths, two seeds, eigenvalues 0.1 and 1, step 0.5."""

    def __init__(self, rate: float, rise: float = 1.0) -> None:
        step = np.arange(200)
        loss = 0.5 * np.exp(rate * 2 * np.log(1 - 0.05) * step) * np.where(step == 3, rise, 1.0)
        self.each = {"step": step, "train_loss": loss, "tangent_eigenvalue": np.array([0.1, 1.0])}
        self.each |= {"tangent_power": np.array([1.0, 1.0]), "step_size": np.float64(0.5)}
        super().__init__({"network.width": np.array([10, 100]), "seed": np.array([0, 1])})

    def select(self, name: str, at: dict[str, Any]) -> Any:
        return self.each[name]


@pytest.mark.parametrize(
    ("rate", "rise", "holds"),
    [(1.0, 1.0, True), (0.95, 1.0, True), (0.85, 1.0, False), (1.15, 1.0, False), (0.0, 1.0, False), (1.0, 9.0, False)],
)
def test_the_judge_of_the_tangent_rate_says_yes_and_no(rate: float, rise: float, holds: bool) -> None:
    judgement = claims.get("tangent_rate").judge(Made(rate, rise))  # type: ignore[arg-type]
    assert isinstance(judgement, Judgement)
    assert judgement.holds is holds, judgement.measured


def test_the_judge_says_no_where_there_is_no_rate_to_fit() -> None:
    made = Made(1.0)
    made.each["tangent_power"] = np.array([0.0, 1.0])  # the slowest mode never carries the loss
    judgement = claims.get("tangent_rate").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is False
    assert "no rate to fit at 2 of 2 seeds" in judgement.measured
