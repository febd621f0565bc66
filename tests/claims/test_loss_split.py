"""Split of the loss: the cross term stays within its errors, the parts add up, the loss falls."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def splits(pull: float = 1.0, shift: float = 0.0, fallen: float = 0.2) -> StandInResults:
    """Two dimensions, three seeds, four records; cross terms of `pull` standard errors, one more by `shift`."""
    shape = (2, 3, 4)
    loss = np.broadcast_to(np.array([1.0, 0.6, 0.4, fallen]), shape)
    cross = 0.005 * pull * np.where(np.arange(4) % 2, 1.0, -1.0) * np.ones(shape)
    cross[0, 1, 2] += 0.005 * shift
    return StandInResults(
        {"data.dim": [5, 10], "seed": np.arange(3)},
        {
            "split_loss": loss,
            "split_radial": loss / 2 - cross,
            "split_spread": loss / 2,
            "split_cross": cross,
            "split_cross_error": np.full(shape, 0.005),
        },
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (splits(), True),
        (splits(shift=-3.0), True),
        (splits(shift=-6.0), False),  # one record far off
        (splits(pull=2.0), False),  # all a little
        (splits(fallen=0.9), False),  # nothing was learned
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("loss_split", results, holds)


def test_parts_that_do_not_add_up() -> None:
    results = splits()
    results["split_spread"] = np.full((2, 3, 4), 0.9)
    assert_judged("loss_split", results, False)
