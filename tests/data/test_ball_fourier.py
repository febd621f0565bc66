"""Points with the density φ²: their directions, stratified radii in frames, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simlab.core.errors import BadInput
from simlab.core.parsing import parse
from simlab.data.ball_fourier import BallFourier


def test_directions_are_uniform() -> None:
    """A coordinate of x/‖x‖ is Beta((d−1)/2, (d−1)/2), also in frames, where one of each is taken."""
    for fields in ({}, {"directions": "frames"}, {"radii": "stratified", "directions": "frames"}):
        X = parse(BallFourier, {"dim": 6, **fields}).sample(12_000, np.random.default_rng(4))
        along = (X @ (np.ones(6) / math.sqrt(6)) / np.linalg.norm(X, axis=1))[::12]
        assert stats.kstest((1 + along) / 2, stats.beta(2.5, 2.5).cdf).pvalue > 1e-3


def test_stratified_frames() -> None:
    """Radii are the quantiles, in random order; sorted, groups of 2d directions are ± an orthogonal matrix."""
    law = BallFourier(dim=5, mass=0.5, radii="stratified", directions="frames")
    X = law.sample(23, np.random.default_rng(5))
    r = np.linalg.norm(X, axis=1)
    order = np.argsort(r)
    assert (order != np.arange(23)).any()
    np.testing.assert_allclose(r[order], law.radius_law().stratified(23), rtol=1e-14)
    unit = (X / r[:, np.newaxis])[order]
    for start in (0, 10):
        group = unit[start : start + 10]
        np.testing.assert_allclose(group[::2], -group[1::2], atol=1e-15)
        np.testing.assert_allclose(group[::2] @ group[::2].T, np.eye(5), atol=1e-14)
    assert abs(unit[20] @ unit[22]) < 1e-14


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"dim": 1}, "data.dim = 1: must be at least 2: on a line every function is one of a single neuron's input"),
        ({"dim": 0}, "data.dim = 0: must be from 2 to 5000"),
        ({"dim": 3, "mass": 0.0}, "data.mass = 0.0: must lie between 0 and 1"),
        ({"dim": 3, "mass": 1}, "data.mass = 1: must lie between 0 and 1"),
        ({"dim": 3, "mass": "all"}, "data.mass = 'all': must lie between 0 and 1, both excluded, or be \"natural\""),
    ],
)
def test_what_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(BallFourier, fields, "data")
    assert str(refused.value).startswith(says)
