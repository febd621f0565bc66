"""Staircase of kernel regression: degrees up to ℓ are learned on d^ℓ to d^(ℓ+1) samples, no others."""

from __future__ import annotations

import pytest

from tests.support.claim_results import assert_judged, staircase_cases
from tests.support.stand_in_results import StandInResults


@pytest.mark.parametrize(("results", "holds"), staircase_cases(above=0))
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("krr_staircase", results, holds)
