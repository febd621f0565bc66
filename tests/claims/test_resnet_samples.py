"""How many samples: powers of d that are known, and where the grid of samples ends too early."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.claim_results import assert_judged, judged
from tests.support.stand_in_results import StandInResults

DIMS = np.array([8, 12, 16, 24])


def samples(net: float, kernel: float) -> StandInResults:
    """Errors that cross α² at 10 d^net and 5 d^kernel samples, like 1/N."""
    sizes = 2.0 ** np.arange(3, 20)
    learner = np.array(["descent"] * sizes.size + ["kernel"] * 2 * sizes.size)
    n = np.tile(sizes, 3)
    needed = np.where((learner == "descent")[:, np.newaxis], 10.0 * DIMS**net, 5.0 * DIMS**kernel)
    worse = np.repeat([1.0, 1.0, 3.0], sizes.size)[:, np.newaxis]  # a second kernel, which is never the best
    error = worse * 0.25 * needed / n[:, np.newaxis]
    return StandInResults(
        {"experiment.label": np.arange(n.size), "data.dim": DIMS, "seed": [0, 1]},
        {"test_error": np.repeat(error[..., np.newaxis], 2, axis=2)},
        zipped={"experiment.learner": ("experiment.label", learner), "experiment.samples": ("experiment.label", n)},
        spec="[target]\nalpha = 0.5\n",
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [(samples(1.0, 3.0), True), (samples(1.0, 1.5), False), (samples(2.0, 3.5), False), (samples(1.0, 9.0), False)],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    """Of d^9 samples the grid has too few: what was not reached is no verdict in favour."""
    assert_judged("resnet_samples", results, holds)


def test_exponents_are_found() -> None:
    exponents = judged("resnet_samples", samples(1.0, 3.0)).numbers["exponents"]
    assert exponents == {"descent": pytest.approx(1.0, abs=0.02), "kernel": pytest.approx(3.0, abs=0.02)}
