"""Low degrees first: each degree falls at its predicted rate, and the lower one faster."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.statistics.degrees import degrees_present
from tests.support.claim_results import assert_judged, judged
from tests.support.stand_in_results import StandInResults


def descent(factors: tuple[float, float]) -> StandInResults:
    """Degrees 1 and 3 with eigenvalues 0.2 and 0.01, η = 2; each contracts at `factors` times its predicted rate."""
    step, mu = np.arange(0, 101, 2), np.array([0.5, 0.2, 0.1, 0.01])
    rates = 2 * np.log(1 - 2 * mu[[1, 3]]) * factors
    power = np.zeros((2, len(step), 4))
    power[:, :, [1, 3]] = np.exp(np.outer(step, rates))
    power[1] *= 3.0  # another target
    power[:, :, 0] = 0.02  # noise
    by_degree = ("seed", "record", "degree")
    return StandInResults(
        {"seed": [0, 1]},
        {
            "residual_power": (by_degree, power),
            "residual_power_error": (by_degree, np.full_like(power, 0.01)),
            "step": np.stack([step, step]),
            "limit_eigenvalue": (("seed", "degree"), np.stack([mu, mu])),
            "step_size": [2.0, 2.0],
        },
    )


@pytest.mark.parametrize(
    ("factors", "holds"),
    [((1.0, 1.0), True), ((0.9, 1.1), True), ((1.0, 1.5), False), ((0.6, 1.0), False), ((1.0, -1.0), False)],
)
def test_judge(factors: tuple[float, float], holds: bool) -> None:
    results = descent(factors)
    assert degrees_present(results["residual_power"], results["residual_power_error"]) == [1, 3]
    assert_judged("low_degrees_first", results, holds)


def test_the_order_counts_too() -> None:
    """Right rates of a kernel that learns degree 3 first are not what is claimed."""
    results = descent((1.0, 1.0))
    results["limit_eigenvalue"] = results["limit_eigenvalue"][:, [0, 3, 2, 1]]
    results["residual_power"] = results["residual_power"][:, :, [0, 3, 2, 1]]
    judgement = judged("low_degrees_first", results)
    assert judgement.holds is False
    assert "1.000" in judgement.measured
