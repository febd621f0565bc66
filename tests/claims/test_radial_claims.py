"""Judges of the claims about training on radial targets say yes and no on made-up results."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from simlab import claims
from simlab.claims import radial_learned


def splits(pull: float = 1.0, shift: float = 0.0, fallen: float = 0.2) -> dict[str, Any]:
    """Two dimensions, three seeds, four records; cross terms of `pull` standard errors, one more by `shift`."""
    shape = (2, 3, 4)
    loss = np.broadcast_to(np.array([1.0, 0.6, 0.4, fallen]), shape)
    cross = 0.005 * pull * np.where(np.arange(4) % 2, 1.0, -1.0) * np.ones(shape)
    cross[0, 1, 2] += 0.005 * shift
    return {
        "split_loss": loss,
        "split_radial": loss / 2 - cross,
        "split_spread": loss / 2,
        "split_cross": cross,
        "split_cross_error": np.full(shape, 0.005),
    }


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (splits(), True),
        (splits(shift=-3.0), True),
        (splits(shift=-6.0), False),  # one record far off
        (splits(pull=2.0), False),  # all a little
        (splits(fallen=0.9), False),  # nothing was learned
        (splits() | {"split_spread": np.full((2, 3, 4), 0.9)}, False),  # parts that do not add up
    ],
)
def test_loss_split(made: dict[str, Any], holds: bool) -> None:
    judgement = claims.get("loss_split").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def errors(largest: float = 0.9, loss: float = 0.01) -> dict[str, Any]:
    """Three widths, two seeds, three records; in one of them D rises to `largest` on the way."""
    error = 0.02 * np.broadcast_to(np.array([1.0, 0.8, 0.5]), (3, 2, 3)).copy()
    error[1, 0, 1] = 0.02 * largest
    return {
        "network.width": np.array([25, 50, 250]),
        "data.dim": np.array([5, 10, 50]),
        "discretisation_error": error,
        "discretisation_rate": np.full((3, 2, 3), -1e-4),
        "train_loss": np.broadcast_to(np.array([1.0, 0.1, loss]), (3, 2, 3)),
    }


@pytest.mark.parametrize(
    ("made", "holds"),
    [(errors(), True), (errors(largest=1.04), True), (errors(largest=1.1), False), (errors(loss=0.3), False)],
)
def test_discretisation_error(made: dict[str, Any], holds: bool) -> None:
    judgement = claims.get("discretisation_error").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


class Nets(dict[str, Any]):
    """One dimension, a three-layer net and two others, two step sizes, two seeds, three records; the end as given."""

    def __init__(self, three: float, two: float, limit: float) -> None:
        kinds = [{"kind": "three_layer_mean_field"}, {"kind": "two_layer", "activation": "tanh"}]
        kinds.append({"kind": "two_layer", "activation": "erf"})
        loss = np.full((3, 2, 2, 3), 0.01)
        loss[:, 0, :, -1] = np.array([three, two, 0.5])[:, np.newaxis]
        loss[:, 1, :, -1] = np.nan  # of the other step size all ended early
        predicted = np.full((3, 2, 2, 3), np.nan)
        predicted[0] = limit
        outer = ("network", "flow.step", "seed")
        self.dims = {"test_loss": (*outer, "record"), "loss_limit": (*outer, "record"), "certificate": outer}
        super().__init__(
            {
                "network": np.array([json.dumps(kind) for kind in kinds]),
                "data.dim": np.array([10, 10, 10]),
                "test_loss": loss,
                "loss_limit": predicted,
                "certificate": np.full((3, 2, 2), 4e-4),
            }
        )


@pytest.mark.parametrize(
    ("three", "two", "limit", "holds"),
    [
        (1e-4, 3e-3, 1e-5, True),
        (1e-4, 7e-4, 1e-5, False),  # two layers are not far above
        (1e-3, 1e-2, 1e-5, False),  # three layers are not near their limit: ½Var = 0.00616
        (3e-4, 3e-3, np.nan, False),  # there is none
        (np.nan, 3e-3, 1e-5, False),
        (1e-4, np.nan, 1e-5, True),  # of tanh; erf is at 0.5
    ],
)
def test_radial_learned(three: float, two: float, limit: float, holds: bool) -> None:
    judgement = claims.get("radial_learned").judge(Nets(three, two, limit))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_half_of_the_variance_of_the_target() -> None:
    """Against an integral of the density of the radius: E g² − (E g)², g = 1 − r below 1."""
    from scipy.integrate import quad

    from simlab.sphere.ball_law import BallLaw

    law = BallLaw.of_mass(10, radial_learned.MASS)
    first, second = (quad(lambda r, k=k: (1.0 - r) ** k * law.density(np.array([r]))[0], 0.0, 1.0)[0] for k in (1, 2))
    assert radial_learned.half_variance(10) == pytest.approx((second - first**2) / 2, rel=1e-4)
