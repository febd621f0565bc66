"""Merged staircase: the limit learns, SGD follows it and learns too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def learned(exact: float = 0.01, sgd: float = 0.05, apart: float = 0.02, end: float = 50.0) -> StandInResults:
    """Two seeds, three records; the second seed is as given, the first good."""
    return StandInResults(
        {"seed": [0, 1]},
        {
            "time": np.array([[0.0, 10.0, 10 * end]] * 2),
            "loss_limit": np.array([[1.5, 0.5, 1e-6], [1.5, 0.5, exact]]),
            "test_loss": np.array([[1.5, 0.5, 0.01], [1.5, 0.5, sgd]]),
            "distance": np.array([[0.0, 0.1, 0.01], [0.0, 0.1, apart]]),
            "leap": np.array([1, 1]),
        },
        spec="[network]\nwidth = 10\n",
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (learned(), True),
        (learned(exact=0.5), False),  # a stalled limit
        (learned(sgd=0.5), False),
        (learned(sgd=np.nan), False),
        (learned(apart=0.5), False),
        (learned(end=300.0), False),  # 0.01 is too much by then
        (learned(exact=1e-5, end=300.0), True),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("merged_staircase", results, holds)
