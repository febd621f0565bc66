"""Lazy training generalises worse: a rise with τ, and the published numbers in the published setting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, judged
from tests.support.stand_in_results import StandInResults

FULL_SPEC = """
[experiment]
samples = 1000
[data]
dim = 100
[network]
width = 50
[flow]
steps = 10000
"""
TAUS = np.array([0.01, 0.1, 1.0, 10.0])
ENDS = np.array([8e-5, 1.7e-3, 3.1e-3, 3.2e-3])


def sweep(ends: Any, spec: str = "") -> StandInResults:
    """Ten teachers whose losses have exactly these means and a relative deviation of 0.3."""
    draws = np.random.default_rng(5).standard_normal((TAUS.size, 10))
    draws = (draws - draws.mean(axis=1, keepdims=True)) / draws.std(axis=1, ddof=1, keepdims=True)
    losses = np.asarray(ends)[:, np.newaxis] * (1 + 0.3 * draws)
    records = losses[..., np.newaxis] * np.array([50.0, 1.0])
    return StandInResults({"network.init_std": TAUS, "seed": np.arange(10)}, {"test_loss": records}, spec=spec)


@pytest.mark.parametrize(
    ("ends", "spec", "holds"),
    [
        (ENDS, "", True),
        (ENDS[::-1], "", False),  # falls
        (3e-3 * np.ones(4), "", False),  # flat, as under lazy training for every τ
        ([8e-5, 1.7e-3, 3.2e-3, 3.1e-3], "", True),  # a fall within the standard errors
        ([8e-5, 3.2e-3, 1.7e-3, 3.3e-3], "", False),
        ([1e-3, 1.7e-3, 3.1e-3, 3.2e-3], "", False),  # rises, but not by much
        (ENDS, FULL_SPEC, True),
        ([1.2e-4, 1.7e-3, 3.1e-3, 3.2e-3], FULL_SPEC, False),  # (1.2e-4 − 7.5e-5) / (0.3 · 1.2e-4 · √0.2) = 2.8
        ([8e-5, 1.2e-3, 3.1e-3, 3.2e-3], FULL_SPEC, False),
        ([8e-5, 1.7e-3, 5.0e-3, 5.2e-3], FULL_SPEC, False),
        ([8e-5, 1.7e-3, 5.0e-3, 5.2e-3], FULL_SPEC.replace("1000\n", "500\n"), True),  # not the published setting
        ([8e-5, np.nan, 3.1e-3, 3.2e-3], "", False),
    ],
)
def test_judge(ends: Any, spec: str, holds: bool) -> None:
    assert_judged("lazy_generalisation", sweep(ends, spec), holds)


def test_standard_errors_of_the_difference_count_both_sets_of_teachers() -> None:
    off = judged("lazy_generalisation", sweep(ENDS, FULL_SPEC)).numbers["published_off"]
    assert off["0.01"] == pytest.approx((8e-5 - 7.5e-5) / (0.3 * 8e-5 * 0.2**0.5))
    assert off["1"] == pytest.approx((3.1e-3 - 3.07e-3) / (0.3 * 3.1e-3 * 0.2**0.5))
