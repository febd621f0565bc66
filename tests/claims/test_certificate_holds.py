"""The certificate holds: no trained net lies below it at any record, and each has learned something."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from simlab.claims import certificate_holds
from simlab.claims.ledger import Size, spec_of
from tests.support.claim_results import assert_judged, judged
from tests.support.stand_in_results import StandInResults


def nets(error: float, spread: float = 0.001, first: float = 0.3, bound: float = 0.05) -> StandInResults:
    """d = 2, 3 and the widths 4, 8; all end at `error` but the first, which is twice that."""
    errors = np.full((2, 1, 2, 3), error)
    errors[..., 0] = first
    errors[:, :, 0, 1:] *= 2
    return StandInResults(
        {"data.dim": [2, 3], "target": [json.dumps({"kind": "ball", "radius": 1.0})], "network.width": [4, 8]},
        {
            "certificate": np.full((2, 1, 2), bound),
            "test_error": errors,
            "test_error_se": np.full(errors.shape, spread),
        },
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (nets(0.06), True),
        (nets(0.049), True),  # below, by less than its error
        (nets(0.04), False),
        (nets(0.06, first=0.04), False),  # at any record
        (nets(0.2), False),  # nothing learned
        (nets(0.06, bound=0.0), False),  # nothing certified
        (nets(math.nan), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("certificate_holds", results, holds)


def test_the_order_of_the_axes_does_not_matter() -> None:
    results, axes = nets(0.06), ("data.dim", "network.width", "target")
    results.transpose("certificate", axes)
    for name in ("test_error", "test_error_se"):
        results.transpose(name, (*axes, "record"))
    assert judged("certificate_holds", results) == judged("certificate_holds", nets(0.06))


def test_the_best_constant_leaves_the_variance() -> None:
    assert certificate_holds.variance(5, {"kind": "ball", "radius": 1.0}) == pytest.approx(0.24, abs=1e-4)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_the_control_has_fewer_points(size: Size) -> None:
    claim = certificate_holds.CertificateHolds()
    assert spec_of(claim, size).sweep.points > spec_of(claim, size, control=True).sweep.points >= 1
