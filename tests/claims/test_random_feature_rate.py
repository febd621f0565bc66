"""Random features: every exponent near −1/2, with an interval that says so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, judged, repeated
from tests.support.stand_in_results import StandInResults

WIDTHS = np.array([16, 32, 64, 128, 256])


def features(*exponents: float, noise: float = 0.02) -> StandInResults:
    """One map per exponent, 20 repetitions with this relative noise."""
    sup, rms = repeated(np.broadcast_to([WIDTHS**p for p in exponents], (2, len(exponents), WIDTHS.size)), 20, noise)
    maps = [json.dumps({"kind": "fourier_features", "kernel": f"k{i}"}) for i in range(len(exponents))]
    coords = {"network": maps, "network.width": WIDTHS, "seed": np.arange(20)}
    return StandInResults(coords, {"sup_error": sup, "rms_error": rms})


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (features(-0.5, -0.5), True),
        (features(-0.53, -0.47), True),
        (features(-0.5, -0.6), False),  # one of the maps is enough
        (features(-0.85, -0.5), False),
        (features(-0.4), False),
        (features(0.0), False),
        (features(-0.5, -0.5, noise=1.0), False),  # too noisy to tell
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("random_feature_rate", results, holds)


def test_without_a_power_law() -> None:
    results = features(-0.5)
    results["sup_error"] = np.zeros_like(results["sup_error"])
    judgement = judged("random_feature_rate", results)
    assert judgement.holds is False
    assert "no power law in 1 of 2" in judgement.measured
