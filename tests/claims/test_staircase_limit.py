"""Limit of the staircase: the distance to the limit of infinite d falls throughout, like 1/d."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def limits(exponent: float = -1.0, bump: float = 1.0, left: float = 0.3) -> StandInResults:
    """Four dimensions, three seeds, three records; at the third dimension `bump` times the power law."""
    dims = np.array([10.0, 20.0, 40.0, 80.0])
    size = 0.3 * dims**exponent * np.array([1.0, 1.0, bump, 1.0])
    distance = size[:, np.newaxis, np.newaxis] * np.array([0.0, 1.0, 1.2]) * np.ones((1, 3, 1))
    loss = np.broadcast_to(np.array([1.5, 1.0, 1.5 * left]), (4, 3, 3))
    coords = {"data.dim": dims.astype(int), "seed": np.arange(3)}
    return StandInResults(coords, {"distance": distance, "test_loss": loss})


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (limits(), True),
        (limits(-1.4), True),
        (limits(-0.1), False),
        (limits(-2.0), False),
        (limits(bump=2.5), False),  # does not fall throughout
        (limits(left=0.8), False),  # nothing was learned
        (limits(bump=np.nan), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("staircase_limit", results, holds)


def test_without_distances() -> None:
    results = limits()
    results["distance"] = np.full((4, 3, 3), np.nan)
    assert_judged("staircase_limit", results, False)
