"""Laplace and tangent kernel: the ratio of their eigenvalues is bounded, and does not drift."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, spectrum_results
from tests.support.stand_in_results import StandInResults

K = np.maximum(np.arange(101.0), 1.0)


def spectra(slope: float = 0.0, odd: float = 1.0, first: float = 1.0) -> StandInResults:
    """Eigenvalues k^(−3) of the reference; those of the kernel k^slope times it.

    odd: factor of the odd degrees.
    first: factor of degree 0.
    """
    reference = np.broadcast_to(-3.0 * np.log10(K), (2, 1, K.size))
    ratio = slope * np.log10(K) + np.log10(np.where(np.arange(K.size) % 2, odd, 1.0))
    ratio[0] += np.log10(first)
    return spectrum_results(
        {"kernel.depth": [3, 5], "experiment.dim": [3]}, reference + ratio, log10_reference=reference
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (spectra(), True),
        (spectra(slope=0.01), True),
        (spectra(odd=0.3), True),  # the parities tend to different constants
        (spectra(slope=0.03), False),
        (spectra(slope=-1.0), False),
        (spectra(first=200.0), False),  # constant in the end, but not within a factor of 100
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("laplace_ntk", results, holds)
