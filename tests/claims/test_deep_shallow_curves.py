"""Deep and shallow curves: errors over those of the reference kernel, and the slopes of both."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.claims import deep_shallow_curves
from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def curves(ratio: float, slope: float) -> StandInResults:
    """Two depths, four sizes, three seeds; Laplace's error n^(−0.6), the other's `ratio` n^`slope` times it."""
    n = np.array([50, 100, 200, 400])
    other = np.broadcast_to((n**-0.6)[np.newaxis, :, np.newaxis], (2, 4, 3))
    own = other * (ratio * (n / 100.0) ** slope)[np.newaxis, :, np.newaxis]
    coords = {"kernel.depth": [3, 5], "experiment.samples": n, "seed": [0, 1, 2]}
    return StandInResults(coords, {"test_error": own, "reference_error": other})


@pytest.mark.parametrize(("ratio", "holds"), [(1.0, True), (1.08, True), (1.15, False), (0.85, False)])
def test_judge(ratio: float, holds: bool) -> None:
    assert_judged("deep_shallow_curves", curves(ratio, 0.0), holds)


def test_slopes_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_shallow_curves, "ERROR_TOLERANCE", 10.0)
    assert_judged("deep_shallow_curves", curves(1.0, 0.05), True)
    assert_judged("deep_shallow_curves", curves(1.0, 0.15), False)
