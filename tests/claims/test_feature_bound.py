"""Lower bound for features: 99 % of the targets must lie above it, with no more features than allowed."""

from __future__ import annotations

import pytest

from tests.support.claim_results import assert_draws_every_target, assert_judged, bound_cases
from tests.support.stand_in_results import StandInResults


@pytest.mark.parametrize(("results", "holds"), bound_cases("network"))
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("feature_bound", results, holds)


def test_figure() -> None:
    assert_draws_every_target("feature_bound", "network")
