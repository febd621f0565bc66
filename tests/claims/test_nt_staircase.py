"""Staircase of tangent features: degrees up to ℓ + 1 are learned by d^ℓ to d^(ℓ+1) neurons, no others."""

from __future__ import annotations

import pytest

from tests.support.claim_results import assert_judged, staircase_cases
from tests.support.stand_in_results import StandInResults


@pytest.mark.parametrize(("results", "holds"), staircase_cases(above=1))
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("nt_staircase", results, holds)
