"""Lazy rates: exponents of the movement and of the distance to the linearised net, for both activations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, supremum_results
from tests.support.stand_in_results import StandInResults

Pair = tuple[float, float]
"""Exponents for tanh and for ReLU"""


def lazy(movement: Pair, distance: Pair, noise: float = 0.005) -> StandInResults:
    exponents = {"weight_movement": movement, "linear_weight_distance": distance}
    return supremum_results("flow.alpha", np.logspace(0, 3, 7), exponents, noise)


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (lazy((-1.0, -1.0), (-2.0, -1.6)), True),
        (lazy((-1.01, -0.99), (-1.98, -1.5)), True),
        (lazy((0.0, 0.0), (0.0, 0.0)), False),
        (lazy((-1.0, -0.9), (-2.0, -1.6)), False),  # one activation is enough
        (lazy((-0.9, -1.0), (-2.0, -1.6)), False),
        (lazy((-1.0, -1.0), (-1.5, -1.6)), False),
        (lazy((-1.0, -1.0), (-2.2, -1.6)), False),
        (lazy((-1.0, -1.0), (-2.0, -1.6), noise=0.3), False),  # too noisy to tell
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("lazy_rates", results, holds)


def test_every_point_is_needed() -> None:
    results = lazy((-1.0, -1.0), (-2.0, -1.6))
    results["linear_weight_distance"][0, 3, 1, 2:] = np.nan  # diverged
    assert_judged("lazy_rates", results, False)
