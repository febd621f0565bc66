"""Parity of ReLU kernels: zeros at odd degrees of depth 2 alone, and the known gap below."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, spectrum_results
from tests.support.stand_in_results import StandInResults

DEGREES = np.arange(21)
ODD = (DEGREES % 2 == 1) & (DEGREES >= 3)


def spectra(depth_2: float = 0.0, gap: float = 0.5, extra_zero: bool = False) -> StandInResults:
    """A tangent kernel at depths 2 and 3, eigenvalues k^(−3); c₊ = 3, c₋ = 1, so that odd over even is 1/2.

    depth_2: factor of the odd degrees at depth 2.
    gap: factor of the odd degrees at depth 3.
    extra_zero: whether an even degree vanishes at depth 2.
    """
    even = np.maximum(DEGREES, 1) ** -3.0
    with np.errstate(divide="ignore"):
        log10 = np.log10([np.where(ODD, factor * even, even) for factor in (depth_2, gap)])
    if extra_zero:
        log10[0, 4] = -np.inf
    coords = {"kernel.kind": ["ntk"], "kernel.depth": [2, 3], "experiment.dim": [3]}
    ends = {"at_plus_one": np.full((1, 2, 1), 3.0), "at_minus_one": np.full((1, 2, 1), 1.0)}
    return spectrum_results(coords, log10[np.newaxis, :, np.newaxis], **ends)


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (spectra(), True),
        (spectra(depth_2=1e-30), False),  # small is not 0
        (spectra(extra_zero=True), False),
        (spectra(gap=0.0), False),  # depth 3 has them all
        (spectra(gap=1.0), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("relu_parity", results, holds)
