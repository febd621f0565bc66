"""Mean-field limit: the distance to the widest net falls like 1/√m, while nets learn and neurons move."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults

WIDTHS, SEEDS = np.array([16, 32, 64, 128, 512]), 8


def particles(rate: float, fall: float = 0.01, moved: float = 0.5) -> StandInResults:
    """Predictions of the widest net 0, of others noise ~ (1/m − 1/M)^rate, at three records."""
    noise = np.random.default_rng(0).standard_normal((WIDTHS.size, SEEDS, 3, 200))
    size = (1.0 / WIDTHS - 1.0 / WIDTHS[-1]) ** rate
    size = np.where(np.arange(WIDTHS.size) < WIDTHS.size - 1, size, 0.0)
    shape = (WIDTHS.size, SEEDS, 3)
    return StandInResults(
        {"network.width": WIDTHS, "seed": np.arange(SEEDS)},
        {
            "prediction": (("network.width", "seed", "record", "input"), noise * size[:, None, None, None]),
            "step": np.broadcast_to([0, 10, 40], shape),
            "risk": np.broadcast_to([1.0, 0.5, fall], shape),
            "relative_movement": np.full(shape, moved),
        },
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (particles(0.5), True),
        (particles(0.4), True),
        (particles(0.3), False),
        (particles(0.7), False),
        (particles(0.1), False),
        (particles(0.5, fall=0.5), False),  # nothing was learned
        (particles(0.5, moved=0.01), False),  # the neurons stood still
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("mean_field_limit", results, holds)
