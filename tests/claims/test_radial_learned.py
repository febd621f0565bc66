"""Radial targets: three layers end near their limit, two layers far above."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import quad

from simlab.claims import radial_learned
from simlab.sphere.ball_law import BallLaw
from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


def nets(three: float, two: float, limit: float) -> StandInResults:
    """One dimension, a three-layer net and two others, two step sizes, two seeds, three records; the end as given."""
    kinds = [{"kind": "three_layer_mean_field"}, {"kind": "two_layer", "activation": "tanh"}]
    kinds.append({"kind": "two_layer", "activation": "erf"})
    loss = np.full((3, 2, 2, 3), 0.01)
    loss[:, 0, :, -1] = np.array([three, two, 0.5])[:, np.newaxis]
    loss[:, 1, :, -1] = np.nan  # of the other step size all ended early
    predicted = np.full((3, 2, 2, 3), np.nan)
    predicted[0] = limit
    return StandInResults(
        {"network": [json.dumps(kind) for kind in kinds], "flow.step": [0.1, 1.0], "seed": [0, 1]},
        {"test_loss": loss, "loss_limit": predicted, "certificate": np.full((3, 2, 2), 4e-4)},
        zipped={"data.dim": ("network", [10, 10, 10])},
    )


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (nets(1e-4, 3e-3, 1e-5), True),
        (nets(1e-4, 7e-4, 1e-5), False),  # two layers are not far above
        (nets(1e-3, 1e-2, 1e-5), False),  # three layers are not near their limit: ½Var = 0.00616
        (nets(3e-4, 3e-3, np.nan), False),  # there is none
        (nets(np.nan, 3e-3, 1e-5), False),
        (nets(1e-4, np.nan, 1e-5), True),  # of tanh; erf is at 0.5
    ],
)
def test_judge(results: StandInResults, holds: bool) -> None:
    assert_judged("radial_learned", results, holds)


def test_half_of_the_variance_of_the_target() -> None:
    """Against an integral of the density of the radius: E g² − (E g)², g = 1 − r below 1."""
    law = BallLaw.of_mass(10, radial_learned.MASS)
    first, second = (quad(lambda r, k=k: (1.0 - r) ** k * law.density(np.array([r]))[0], 0.0, 1.0)[0] for k in (1, 2))
    assert radial_learned.half_variance(10) == pytest.approx((second - first**2) / 2, rel=1e-4)
