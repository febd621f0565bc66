"""Overparametrisation: widths with more weights than numbers to fit learn, the narrowest does not."""

from __future__ import annotations

import pytest

from tests.support.claim_results import assert_judged, learner_results


@pytest.mark.parametrize(
    ("errors", "holds"),
    [([2.0, 0.1, 0.1], True), ([2.0, 0.5, 0.1], True), ([2.0, 0.1, 0.3], False), ([0.1, 0.1, 0.1], False)],
)
def test_judge(errors: list[float], holds: bool) -> None:
    """26 weights per neuron and 2400 numbers to fit: width 50 has fewer of the former, 200 more."""
    results = learner_results({("descent", "residual", 0.6): errors}, widths=(10, 50, 200))
    assert_judged("overparametrisation", results, holds)
