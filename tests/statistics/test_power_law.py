"""Power laws: the fits against exact ones and against the coverage that they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simlab.statistics import fit_cautious_power, fit_power, fit_weighted_power, slope, slope_through_origin

X = np.array([10.0, 20.0, 40.0, 80.0, 160.0])


def test_an_exact_power_is_found() -> None:
    power = fit_power(X, 3.0 * X**-0.7)
    assert power is not None
    assert power.exponent == pytest.approx(-0.7, abs=1e-12)
    assert power(40.0) == pytest.approx(3.0 * 40.0**-0.7, rel=1e-12)
    assert power.high - power.low < 1e-10
    assert power.within(-0.7, 0.01)
    assert not power.within(-0.6, 0.05)
    assert str(power) == "-0.700 ± 0.000"


@pytest.mark.parametrize("repetitions", [1, 30])
def test_the_interval_contains_the_exponent_19_times_of_20(repetitions: int) -> None:
    """Over 400 samples the share has a standard error of 1.1 %."""
    rng, inside = np.random.default_rng(1), 0
    for _ in range(400):
        power = fit_power(X, X[:, np.newaxis] ** -0.5 * np.exp(0.1 * rng.standard_normal((X.size, repetitions))))
        assert power is not None
        inside += power.low <= -0.5 <= power.high
    assert 0.91 <= inside / 400 <= 0.99


@pytest.mark.parametrize("y", [np.zeros(5), -X, np.full(5, np.nan)])
def test_what_is_no_power_is_not_fitted(y: np.ndarray) -> None:
    assert fit_power(X, y) is None
    assert fit_power(X[:2], X[:2]) is None
    assert fit_cautious_power(X, y[:, np.newaxis]) is None


@pytest.mark.parametrize(
    ("y", "least", "most"),
    [
        (np.exp(0.1 * np.log(X) ** 2) / X, 0.2, np.inf),  # seeds agree, but it is no power law
        (X[:, np.newaxis] ** np.linspace(-1.3, -0.7, 6), 0.2, np.inf),  # a power law, but seeds do not agree
        (X**-1.0, 0.0, 1e-10),
    ],
)
def test_a_cautious_interval_covers_seeds_and_fit(y: np.ndarray, least: float, most: float) -> None:
    power = fit_cautious_power(X, np.broadcast_to(y.reshape(X.size, -1), (X.size, 6)))
    assert power is not None
    assert least <= power.high - power.low <= most


def test_a_weighted_fit_knows_its_error() -> None:
    """The pulls of 400 fits to noise of known size have mean 0 and deviation 1."""
    rng, clean = np.random.default_rng(1), 3.0 * X**-1.2
    error = np.array([0.01, 0.05, 0.02, 0.05, 0.01]) * clean
    pulls = []
    for _ in range(400):
        exponent, spread = fit_weighted_power(X, clean + error * rng.standard_normal(X.size), error, clear=2.0)
        pulls.append((exponent + 1.2) / spread)
    assert abs(np.mean(pulls)) < 4 / 400**0.5
    assert np.std(pulls) == pytest.approx(1.0, abs=4 / 800**0.5)


def test_a_weighted_fit_leaves_out_what_is_not_clear() -> None:
    y, error = X**-1.0, 0.01 * X**-1.0
    y[1], error[1] = 5.0, 4.0
    assert fit_weighted_power(X, y, error, clear=2.0)[0] == pytest.approx(-1.0, abs=1e-12)
    assert np.isnan(fit_weighted_power(X, y, y, clear=2.0)).all()


def test_slopes() -> None:
    y = np.random.default_rng(2).standard_normal(X.size)
    assert slope(X, y) == pytest.approx(stats.linregress(X, y).slope, rel=1e-10)
    through = np.linalg.lstsq(X[:, np.newaxis], y, rcond=None)[0][0]
    assert slope_through_origin(X, y) == pytest.approx(through, rel=1e-10)
