"""Not minimum norm: descent ends farther away than another solution that fits as well."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def solutions(farther: float, loss: float = 1e-6, other: float = 1e-6) -> StandInResults:
    """Two flows, three seeds, five records; the first moves `farther` times as far, and they end at these losses."""
    moved, left = np.ones((2, 3, 5)), np.ones((2, 3, 5))
    moved[0] *= farther
    left[0, :, -1], left[1, :, -1] = loss, other
    coords = {"flow.kind": ["descent", "least"], "seed": np.arange(3)}
    return StandInResults(coords, {"train_loss": left, "weight_movement": moved, "test_error": left})


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (solutions(1.8), True),
        (solutions(1.0), False),
        (solutions(1.8, loss=0.1), False),
        (solutions(1.8, other=0.1), False),  # its small norm would be bought by a larger loss
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("not_minimum_norm", results, holds)
