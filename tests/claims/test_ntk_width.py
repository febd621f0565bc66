"""Tangent kernel and width: every depth has the exponent −1/2."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, repeated
from tests.support.stand_in_results import StandInResults

WIDTHS = np.array([64.0, 128.0, 256.0, 512.0])


@pytest.mark.parametrize(
    ("exponents", "noise", "holds"),
    [
        ((-0.5, -0.5), 0.2, True),
        ((-0.45, -0.55), 0.2, True),
        ((-0.5, -0.3), 0.2, False),  # one depth is enough
        ((-0.7, -0.5), 0.2, False),
        ((0.0, 0.0), 0.2, False),
        ((-0.5, -0.5), 1.5, False),  # too noisy to tell
    ],
)
def test_judge(exponents: tuple[float, float], noise: float, holds: bool) -> None:
    errors = repeated([WIDTHS**p for p in exponents], 60, noise)
    coords = {"network.depth": [2, 3], "network.width": WIDTHS, "draw": np.arange(60)}
    assert_judged("ntk_width", StandInResults(coords, {"rms_error": errors, "sup_error": 3 * errors}), holds)
