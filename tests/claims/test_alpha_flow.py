"""α-flow: the distances must fall at their two rates, and α must grow."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, judged
from tests.support.stand_in_results import StandInResults

WIDTHS, SEEDS = np.array([25, 75, 225, 675]), 16


def course(limit: float, matched: float, grown: float = 1.5, floor: float = 0.0) -> StandInResults:
    """α at four records, off the α-flow by noise ~ m^limit and m^matched (and a floor), growing to `grown` times."""
    rng = np.random.default_rng(0)
    alpha = np.broadcast_to(np.linspace(1.0, grown, 4), (WIDTHS.size, SEEDS, 4))
    recorded = {"alpha": alpha}
    for name, rate in (("limit", limit), ("matched", matched)):
        size = 0.7 * (WIDTHS / 25) ** rate + floor
        off = size[:, np.newaxis] * (1 + 0.1 * rng.standard_normal((WIDTHS.size, SEEDS)))
        recorded[f"alpha_{name}"] = alpha / (1 + 0.1 * off[:, :, np.newaxis] * np.linspace(0, 1, 4))
    return StandInResults({"network.width": WIDTHS, "seed": np.arange(SEEDS)}, recorded)


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (course(-0.5, -1.0), True),
        (course(-0.6, -0.8), True),
        (course(-0.3, -1.0), False),
        (course(-0.5, -0.5), False),  # matched alike: α₀ is not what is wrong
        (course(-1.0, -1.0), False),
        (course(-0.5, -1.0, floor=0.3), False),  # not the limit
        (course(-0.5, 0.0), False),
        (course(-0.5, -1.0, grown=1.05), False),  # nothing was learned
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("alpha_flow", results, holds)


def test_a_run_that_ended_early_does_not_follow_the_flow() -> None:
    results = course(-0.5, -1.0)
    results["alpha_limit"] = np.where(np.arange(4) < 2, results["alpha_limit"], np.nan)
    judgement = judged("alpha_flow", results)
    assert judgement.holds is False
    assert "exponents None from the law's alpha" in judgement.measured
