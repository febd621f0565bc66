"""A single neuron: kernels leave the power above degree ℓ, as theory says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def neuron(error: float, above: float = 0.25, theory: float = 1.0) -> StandInResults:
    """Depths 3 and 8 in d = 10, 20 with n = d^1.5; variance 1, mean 2; `theory` times the error predicted."""
    shape, power = (2, 2, 2), np.zeros((2, 2, 2, 5))
    power[..., :3] = [4.0, 1.0 - above, above]
    return StandInResults(
        {"kernel.depth": [3, 8], "data.dim": [10, 20], "seed": [0, 1], "degree": range(5)},
        {
            "test_error": np.full(shape, error),
            "theory": np.full(shape, error * theory),
            "power_total": np.full(shape, 5.0),
            "power_by_degree": power,
        },
        zipped={"experiment.samples": ("data.dim", [32, 89])},
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (neuron(0.27), True),
        (neuron(0.5), True),
        (neuron(0.15, above=0.15), False),
        (neuron(0.25, above=0.4), False),
        (neuron(0.27, theory=1.3), False),
        (neuron(0.02, above=0.0), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("kernel_single_neuron", results, holds)
