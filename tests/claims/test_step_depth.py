"""Decay of the step's kernels: an exponent for each depth, with intervals apart, and the constants."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, spectrum_results
from tests.support.stand_in_results import StandInResults

K = np.arange(1.0, 41.0)


def spectra(off: float = 0.0, half: float = 0.01, constant: float = 1.0, deeper: float = 0.5) -> StandInResults:
    """Depths 2 and 3 on S^2: eigenvalues k^(−3) and k^(−2.5).

    off: added to both fitted exponents.
    half: half the length of their intervals.
    constant: eigenvalue over prediction.
    deeper: by how much the exponent of depth 3 is smaller.
    """
    decay = np.array([[3.0], [3.0 - deeper]]) + off
    law = -np.array([[3.0], [2.5]])[..., np.newaxis] * np.log10(K)
    intervals = {"decay": decay, "decay_low": decay - half, "decay_high": decay + half}
    coords = {"kernel.depth": [2, 3], "experiment.dim": [3]}
    return spectrum_results(coords, law + np.log10(constant), log10_predicted=law, **intervals)


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (spectra(), True),
        (spectra(off=0.015, constant=0.985), True),
        (spectra(off=0.03), False),
        (spectra(half=0.3), False),  # the intervals overlap
        (spectra(constant=1.03), False),
        (spectra(deeper=0.0), False),  # depth changes nothing, as for ReLU
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("step_depth", results, holds)
