"""The simple part first: F is half learned well before αG(F), and the rest of the error falls on."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def course(simple: int, composed: int, cleaner: float) -> StandInResults:
    """Half learned at these steps of 0 … 99; the error beside αG(F) is 1 until the second of them, then `cleaner`."""
    steps = np.arange(100)
    other_error = np.where(steps <= composed, 1.0, cleaner)
    each = {
        "step": steps,
        "learned_simple": 1.0 * (steps >= simple),
        "learned_composed": 0.9 * (steps >= composed),
        "error_simple": 0.5 * other_error,
        "error_rest": 0.5 * other_error,
    }
    return StandInResults({"seed": np.arange(3)}, {name: np.stack([values] * 3) for name, values in each.items()})


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (course(10, 40, 0.1), True),
        (course(10, 15, 0.1), False),
        (course(10, 40, 0.8), False),
        (course(10, 1000, 0.1), False),  # never
        (course(40, 10, 0.1), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("simple_part_first", results, holds)
