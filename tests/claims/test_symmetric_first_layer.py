"""Symmetric first layer: the rate before and after training, and the size at the start."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.sphere.mean_relu import c_gamma
from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults

WIDTHS, SEEDS, DIM = np.array([25, 75, 225, 675]), 16, 10


def layers(start: float = -0.5, end: float = -0.5, size: float = 1.0, grown: float = 1.5) -> StandInResults:
    """rms of F/(α‖x‖) − 1 of both norms with these exponents, `size` times the predicted one at the start."""
    rng, std = np.random.default_rng(1), np.empty((2, WIDTHS.size, SEEDS, 2))
    for i, fourth in enumerate((1 + 2 / DIM, 1.0)):
        predicted = size * np.sqrt(fourth * (1 / (2 * c_gamma(DIM) ** 2) - 1) / 100)
        for record, rate in enumerate((start, end)):
            noise = 1 + 0.1 * rng.standard_normal((WIDTHS.size, SEEDS))
            std[i, :, :, record] = predicted * ((WIDTHS / 100.0) ** rate)[:, np.newaxis] * noise
    return StandInResults(
        {"network.norms": ["random", "equal"], "network.width": WIDTHS, "seed": np.arange(SEEDS)},
        {
            "first_layer_std": 0.8 * std,
            "first_layer_mean": 1 + 0.6 * std,
            "alpha": np.broadcast_to([1.0, grown], std.shape),
        },
        spec=f"[data]\ndim = {DIM}",
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (layers(), True),
        (layers(end=-0.42), True),
        (layers(start=-0.3), False),
        (layers(end=-0.2), False),
        (layers(start=0.0, end=0.0), False),
        (layers(size=1.2), False),
        (layers(size=0.8), False),
        (layers(grown=1.0), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("symmetric_first_layer", results, holds)
