"""Numbers of a sweep: points, means over seeds, settings, ends and suprema of trajectories."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.statistics import (
    each_seed,
    last_or_largest,
    mean_over_seeds,
    points_of,
    setting,
    standard_error,
    sup_power,
)
from tests.support.stand_in_results import StandInResults


def recorded() -> StandInResults:
    """Trajectories of lengths 3, 2 and 0 (a point that failed), padded with NaN, and a single number per point."""
    loss = np.array([[4.0, 9.0, 1.0], [5.0, 2.0, np.nan], [np.nan] * 3])
    return StandInResults({"width": [1, 2, 4]}, {"loss": loss, "length": [3, 2, 0], "error": [1.0, 2.0, np.nan]})


def test_the_end_and_the_largest_of_trajectories() -> None:
    results = recorded()
    np.testing.assert_array_equal(last_or_largest(results, "loss", {}, "end"), [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(last_or_largest(results, "loss", {}, "largest"), [9.0, 5.0, np.nan])
    np.testing.assert_array_equal(last_or_largest(results, "error", {}, "largest"), [1.0, 2.0, np.nan])
    results["loss"][0, 1] = np.nan  # recorded, not padding
    np.testing.assert_array_equal(last_or_largest(results, "loss", {}, "largest"), [np.nan, 5.0, np.nan])
    results["loss"] = np.empty((3, 0))  # nothing recorded anywhere
    np.testing.assert_array_equal(last_or_largest(results, "loss", {}, "largest"), np.full(3, np.nan))
    np.testing.assert_array_equal(last_or_largest(results, "loss", {}, "end"), np.full(3, np.nan))


def swept() -> StandInResults:
    """Widths 1, 2, 4 with depths beside them, two scales, four seeds; three records, the second the largest."""
    top = np.arange(1.0, 25.0).reshape(3, 2, 4)
    loss = top[..., np.newaxis] * np.array([0.5, 1.0, 0.1])
    coords = {"network.width": [1, 2, 4], "flow.alpha": [0.1, 1.0], "seed": np.arange(4)}
    spec = "[flow]\nalpha = 3.0\n[data]\ndim = 5\n"
    depths = {"network.depth": ("network.width", [2, 3, 5])}
    return StandInResults(coords, {"top": top, "loss": loss}, zipped=depths, spec=spec)


def test_points() -> None:
    every = [{"network.width": width, "flow.alpha": alpha} for width in (1, 2, 4) for alpha in (0.1, 1.0)]
    assert list(points_of(swept(), "top", ("seed",))) == every
    assert list(points_of(swept(), "top", ("seed", "network.width"))) == [{"flow.alpha": 0.1}, {"flow.alpha": 1.0}]


def test_means_over_seeds() -> None:
    results = swept()
    mean, error = mean_over_seeds(results, "top", {"network.depth": 3, "flow.alpha": 1.0})
    assert (mean, error) == (np.mean([13, 14, 15, 16]), standard_error(np.array([13.0, 14.0, 15.0, 16.0])))
    values, none = mean_over_seeds(results, "network.depth", {})
    np.testing.assert_array_equal(values, [2, 3, 5])
    assert not none.any()


def test_every_seed_has_its_trajectory() -> None:
    at = {"network.width": 1, "flow.alpha": 0.1}
    np.testing.assert_allclose(each_seed(swept(), "loss", at), np.outer([1, 2, 3, 4], [0.5, 1.0, 0.1]))
    np.testing.assert_allclose(each_seed(swept(), "loss", at | {"seed": 2}), [[1.5, 3.0, 0.3]])
    assert [one.tolist() for one in each_seed(recorded(), "loss", {"width": 2})] == [[5.0, 2.0]], "without its padding"


def test_what_the_spec_says() -> None:
    assert setting(swept(), "data", "dim") == 5
    assert setting(swept(), "data", "kind") is None
    assert setting(swept(), "flow", "alpha") is None, "the sweep changes it"


def test_the_power_law_of_a_supremum() -> None:
    results = swept()
    results["loss"] = (np.array([1.0, 2.0, 4.0]) ** -1.5)[:, None, None, None] * np.ones((3, 2, 4, 1)) * [0.5, 1.0, 0.1]
    power = sup_power(results, "network.width", "loss", {"flow.alpha": 1.0})
    assert power is not None
    assert power.exponent == pytest.approx(-1.5, abs=1e-12)
    assert power(1.0) == pytest.approx(1.0)
