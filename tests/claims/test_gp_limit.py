"""Gaussian-process limit: rates of the conjugate kernel and of the kurtosis; the widest net must be Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults

WIDTHS = np.array([16, 32, 64, 128, 256])


def nets(
    conjugate: float = -0.5, kurtosis: float = -1.0, size: float = 20.0, z: float = 2.0, distance: float = 0.03
) -> StandInResults:
    flat = np.ones(WIDTHS.size)
    return StandInResults(
        {"network.width": WIDTHS},
        {
            "conjugate_error": 2.0 * WIDTHS**conjugate,
            "kurtosis": size * WIDTHS**kurtosis,
            "kurtosis_se": 0.02 * flat,
            "covariance_z": z * flat,
            "ks_distance": distance * flat,
            "ks_critical": 0.05 * flat,
        },
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (nets(), True),
        (nets(conjugate=-0.53, kurtosis=-1.2), True),
        (nets(conjugate=-0.1), False),
        (nets(conjugate=-0.6), False),
        (nets(kurtosis=-0.2), False),
        (nets(kurtosis=-1.5), False),
        (nets(size=0.0), False),
        (nets(z=6.0), False),
        (nets(distance=0.1), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("gp_limit", results, holds)


@pytest.mark.parametrize(("narrow", "widest", "holds"), [(1.0, 0.01, True), (0.01, 1.0, False)])
def test_the_widest_net_counts(narrow: float, widest: float, holds: bool) -> None:
    results = nets()
    results["ks_distance"] = np.where(WIDTHS < 256, narrow, widest)
    assert_judged("gp_limit", results, holds)
