"""Degrees of a residual: those above noise, and the slopes that the eigenvalues predict."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.statistics import degrees_present, predicted_slope
from tests.support.stand_in_results import StandInResults


def test_a_degree_is_present_where_its_power_is_a_clear_share() -> None:
    power = np.zeros((2, 3, 5))  # seeds, records, degrees
    power[:, 0] = [1.0, 0.5, 0.005, 0.3, 0.0]  # degree 2 has less than 1 % of the power
    error = np.full_like(power, 0.001)
    error[..., 3] = 0.2  # 0.2/√2 over two seeds: degree 3 is two standard errors above 0
    assert degrees_present(power, error) == [0, 1]
    error[..., 3] = 0.05
    assert degrees_present(power, error) == [0, 1, 3]


def test_slopes_of_descent_and_of_a_flow_in_time() -> None:
    mu = {"limit_eigenvalue": (("seed", "degree"), [[0.5, 0.1]])}
    flow, descent = (StandInResults({"seed": [0]}, mu | more) for more in ({}, {"step_size": [2.0]}))
    assert predicted_slope(flow, {"seed": 0}, 1) == -0.2
    assert predicted_slope(descent, {"seed": 0}, 1) == pytest.approx(2 * np.log(0.8))
    assert predicted_slope(descent, {"seed": 0}, 0) == -np.inf, "gone after one step"
    assert predicted_slope(StandInResults({"seed": [0]}, {}), {"seed": 0}, 0) is None
