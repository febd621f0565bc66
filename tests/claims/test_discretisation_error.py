"""Discretisation error: D stays below 1.05 of its start at every record, while the loss falls."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def errors(largest: float = 0.9, loss: float = 0.01) -> StandInResults:
    """Three widths, two seeds, three records; in one of them D rises to `largest` on the way."""
    error = 0.02 * np.broadcast_to(np.array([1.0, 0.8, 0.5]), (3, 2, 3)).copy()
    error[1, 0, 1] = 0.02 * largest
    return StandInResults(
        {"network.width": [25, 50, 250], "seed": [0, 1]},
        {
            "discretisation_error": error,
            "discretisation_rate": np.full((3, 2, 3), -1e-4),
            "train_loss": np.broadcast_to(np.array([1.0, 0.1, loss]), (3, 2, 3)),
        },
        zipped={"data.dim": ("network.width", [5, 10, 50])},
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [(errors(), True), (errors(largest=1.04), True), (errors(largest=1.1), False), (errors(loss=0.3), False)],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("discretisation_error", results, holds)
