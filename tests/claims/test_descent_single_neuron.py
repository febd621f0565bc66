"""Descent finds the neuron: a small error where kernels have a large one, along the right direction."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def neurons(descent: float = 1e-3, kernel: float = 0.3, cosine: float = 0.98) -> StandInResults:
    """Two dimensions, three seeds, four records of which the last is empty; in the second dimension as given."""
    loss = np.full((2, 3, 4), 0.25)
    loss[0, :, 2], loss[1, :, 2] = 1e-4, 0.5 * descent
    loss[:, :, 3] = np.nan
    axes = ("data.dim", "seed")
    return StandInResults(
        {"data.dim": [20, 40], "seed": np.arange(3)},
        {
            "target_variance": np.ones((2, 3)),
            "length": np.full((2, 3), 3),
            "test_loss": loss,
            "kernel_error": ((*axes, "kernel"), np.stack([np.full((3, 2), 0.3), np.array([[0.9, kernel]] * 3)])),
            "alignment_mean": (
                (*axes, "record", "neuron"),
                np.stack([np.full((3, 4, 1), 0.99), np.full((3, 4, 1), cosine)]),
            ),
            "diverged": np.zeros((2, 3)),
        },
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (neurons(), True),
        (neurons(descent=0.05), False),
        (neurons(descent=np.nan), False),
        (neurons(kernel=0.1), False),
        (neurons(cosine=0.5), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("descent_single_neuron", results, holds)
