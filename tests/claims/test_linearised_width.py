"""Linearised width: exponents of the distances of predictions and of weights."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, supremum_results

WIDTHS = np.array([64.0, 128.0, 256.0, 512.0, 1024.0])


@pytest.mark.parametrize(
    ("predictions", "weights", "holds"),
    [
        ((-1.0, -0.75), (-0.5, -0.3), True),
        ((-0.1, -0.1), (0.5, 0.5), False),  # as in the mean-field scaling
        ((-1.0, -0.5), (-0.5, -0.3), False),
        ((-0.6, -0.75), (-0.5, -0.3), False),
        ((-1.0, -0.75), (-0.2, -0.3), False),
        ((-1.0, -0.75), (0.0, -0.3), False),
    ],
)
def test_judge(predictions: tuple[float, float], weights: tuple[float, float], holds: bool) -> None:
    """Exponents for tanh and for ReLU."""
    exponents = {"linear_test_distance": predictions, "linear_weight_distance": weights}
    assert_judged("linearised_width", supremum_results("network.width", WIDTHS, exponents, 0.05), holds)
