"""Width that the certificate asks for: exponential in d for shells, bounded for a Lipschitz target."""

from __future__ import annotations

import math
import tomllib

import numpy as np
import pytest

from simlab.claims import certificate_width
from simlab.sphere.ball_law import BallLaw
from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults

DIMS = np.array([4.0, 8.0, 16.0, 32.0, 64.0])


def widths(shells: np.ndarray, lipschitz: np.ndarray, beyond: float = 0.9) -> StandInResults:
    return StandInResults(
        {"data.dim": DIMS, "eps": [0.3, 0.005], "ratio": [1.0, 2.0]},
        {
            "log10_width": np.stack([shells, 2 * shells], axis=1),
            "log10_width_reference": np.stack([np.zeros(DIMS.size), lipschitz], axis=1),
            "beyond": (("data.dim", "ratio"), np.full((DIMS.size, 2), beyond)),
        },
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (widths(0.5 * DIMS - 1, 0.9 + 0 * DIMS), True),
        (widths(0.5 * DIMS - 1, np.linspace(0.5, 1.2, 5)), True),
        (widths(0.2 * DIMS, 0.9 + 0 * DIMS), False),  # exponential, but slower than the frequency says
        (widths(18 * np.log10(DIMS), 0.9 + 0 * DIMS), False),  # a power of d, as steep on the whole
        (widths(0.9 + 0 * DIMS, 0.9 + 0 * DIMS), False),
        (widths(0.5 * DIMS - 1, 0.1 * DIMS), False),  # the Lipschitz one grows too
        (widths(0.5 * DIMS - 1, np.full(5, np.inf)), False),
        (widths(0.5 * DIMS - 1, 0 * DIMS), False),  # one neuron will do: nothing is shown
        (widths(0.5 * DIMS - 1, 0.9 + 0 * DIMS, beyond=0.3), False),
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("certificate_width", results, holds)


def test_the_shells_oscillate_at_the_frequency_stated() -> None:
    """Half a period π/κ in s: κ (s₂ − s₁)/π shells, to the nearest whole number."""
    for dim, count in certificate_width.COUNTS.items():
        span = BallLaw.of_mass(dim, certificate_width.MASS).wave * (certificate_width.OUTER - certificate_width.INNER)
        assert abs(count - certificate_width.FREQUENCY * span / math.pi) <= 0.5
    sweep = tomllib.loads(certificate_width.CertificateWidth.quick)["sweep"]
    assert [certificate_width.COUNTS[dim] for dim in sweep["data.dim"]] == [t["count"] for t in sweep["target"]]
