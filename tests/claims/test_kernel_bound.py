"""Lower bound for kernels: 99 % of the targets must lie above it, with no more samples than allowed."""

from __future__ import annotations

import pytest

from tests.support.claim_results import assert_draws_every_target, assert_judged, bound_cases
from tests.support.stand_in_results import StandInResults


@pytest.mark.parametrize(("results", "holds"), bound_cases("kernel"))
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("kernel_bound", results, holds)


def test_figure() -> None:
    assert_draws_every_target("kernel_bound", "kernel")
