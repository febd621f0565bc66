"""The learning rate decides: the best step is the largest stable one, small ones do not learn."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, step_results


@pytest.mark.parametrize(
    ("errors", "holds"),
    [
        ({0.01: 0.5, 0.1: 0.3, 0.6: 0.05, 1.7: np.nan}, True),
        ({0.01: 0.5, 0.1: 0.3, 0.6: 0.05, 1.7: 0.04}, False),  # nothing diverges: the edge was not reached
        ({0.01: 0.5, 0.1: 0.05, 0.6: 0.3, 1.7: np.nan}, False),  # the best is far below the edge
        ({0.01: 0.1, 0.1: 0.1, 0.6: 0.05, 1.7: np.nan}, False),  # small steps learn it too
        ({0.01: 0.5, 0.1: 0.5, 0.6: 0.4, 1.7: np.nan}, False),  # no step does
    ],
)
def test_judge(errors: dict[float, float], holds: bool) -> None:
    assert_judged("learning_rate_decides", step_results(errors), holds)
