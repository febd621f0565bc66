"""Flow and interpolant: every flow ends at the interpolant, by all methods alike."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def flows(loss: float = 1e-20, distance: float = 1e-9, apart: float = 1e-9) -> StandInResults:
    """Two depths, two seeds; the last flow ends as given, the others well."""
    recorded = {}
    for name, end, good in (("train_loss", loss, 1e-20), ("test_distance", distance, 1e-9)):
        recorded[name] = np.broadcast_to([1.0, 0.1, good], (2, 2, 3)).copy()
        recorded[name][1, 1, -1] = end
    recorded["methods_apart"] = np.full((2, 2, 3), 1e-10)
    recorded["methods_apart"][1, 1, 1] = apart  # in the middle
    return StandInResults({"kernel.depth": [3, 5], "seed": [0, 1]}, recorded)


@pytest.mark.parametrize(
    ("results", "holds"),
    [(flows(), True), (flows(loss=1e-3), False), (flows(distance=1e-3), False), (flows(apart=1e-3), False)],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("flow_interpolant", results, holds)
