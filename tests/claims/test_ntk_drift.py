"""Drift of the tangent kernel: exponents of erf and ReLU nets."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, judged, repeated
from tests.support.stand_in_results import StandInResults

WIDTHS = np.array([64.0, 128.0, 256.0, 512.0])


def drifts(erf: float, relu: float) -> StandInResults:
    """Drift at two records, 0 and ~ m^erf or m^relu, eight seeds."""
    ends = repeated([WIDTHS**p for p in (erf, relu)], 8, 0.1)
    coords = {"network.activation": ["erf", "relu"], "network.width": WIDTHS, "seed": np.arange(8)}
    return StandInResults(coords, {"tangent_drift": np.stack([np.zeros_like(ends), ends], axis=-1)})


@pytest.mark.parametrize(
    ("erf", "relu", "holds"),
    [(-1.0, -0.75, True), (-1.1, -0.85, True), (-0.5, -0.75, False), (-1.0, 0.0, False), (-1.0, -1.2, False)],
)
def test_judge(erf: float, relu: float, holds: bool) -> None:
    assert_judged("ntk_drift", drifts(erf, relu), holds)


def test_a_run_that_ended_early_does_not_hold() -> None:
    judgement = judged("ntk_drift", drifts(np.nan, np.nan))
    assert judgement.holds is False
    assert judgement.measured == "erf: no power law; relu: no power law"
