"""Fourier tubes: the net stays in its tubes, the target does not, and no error beats the bound."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults

USUAL = {"net_outside": 1e-8, "target_outside": 0.4, "outside_energy": 0.35, "squared_error": 2.0}


def energies(net: float = 1e-7, target: float = 0.3, bound: float = 0.3, error: float = 0.8) -> StandInResults:
    """Two seeds, two records; the numbers given are those of the second seed's last record."""
    arrays = {name: np.full((2, 2), value) for name, value in USUAL.items()}
    for array, value in zip(arrays.values(), (net, target, bound, error), strict=True):
        array[1, 1] = value
    return StandInResults({"seed": [0, 1]}, arrays)


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (energies(), True),
        (energies(net=1e-2), False),  # it leaves its tubes
        (energies(target=0.01), False),  # there is nothing to miss
        (energies(error=0.29), False),  # better than can be
        (energies(net=np.nan), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("fourier_tubes", results, holds)
