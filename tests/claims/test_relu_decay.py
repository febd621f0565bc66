"""Decay of ReLU kernels: exponents and constants at every depth, and the same at all of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, judged, spectrum_results
from tests.support.stand_in_results import StandInResults

K = np.arange(1.0, 41.0)


def spectra(off: float = 0.0, one: float = 0.0, constant: float = 1.0, smooth: bool = False) -> StandInResults:
    """Both kernels at depths 2 and 3 on S^2: eigenvalues k^(−d−2) and k^(−d), from degree 1 on.

    off: added to every fitted exponent.
    one: added to that of the tangent kernel of depth 3 alone.
    constant: eigenvalue over prediction.
    smooth: no power law is found.
    """
    powers = np.array([5.0, 3.0])[:, np.newaxis, np.newaxis] + np.zeros((2, 2, 1))
    decay = powers + off
    decay[1, 1] += one
    law = np.concatenate([np.full((2, 2, 1, 1), np.nan), -powers[..., np.newaxis] * np.log10(K)], axis=-1)
    coords = {"kernel.kind": ["nngp", "ntk"], "kernel.depth": [2, 3], "experiment.dim": [3]}
    fitted = np.full_like(decay, np.nan) if smooth else decay
    return spectrum_results(coords, law + np.log10(constant), log10_predicted=law, decay=fitted)


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (spectra(), True),
        (spectra(off=0.008, constant=1.008), True),
        (spectra(off=0.02), False),
        (spectra(off=-0.008, one=0.016), False),  # near the claimed ones, not near each other
        (spectra(one=1.0), False),
        (spectra(constant=1.02), False),
        (spectra(smooth=True), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("relu_decay", results, holds)


def test_kernels_without_a_power_law_are_counted() -> None:
    assert judged("relu_decay", spectra(smooth=True)).measured == "no power law in 4 of 4 kernels"
