"""Means and ranges over seeds, beside scipy's."""

from __future__ import annotations

import numpy as np
from scipy import stats

from simlab.statistics import centre, seed_range, standard_error


def test_means_and_their_errors() -> None:
    values = np.random.default_rng(1).uniform(1, 9, (4, 5))
    np.testing.assert_allclose(centre(values, log=False), values.mean(axis=1), rtol=1e-14)
    np.testing.assert_allclose(centre(values, log=True, axis=0), stats.gmean(values, axis=0), rtol=1e-13)
    np.testing.assert_allclose(standard_error(values, axis=0), stats.sem(values, axis=0), rtol=1e-14)


def test_what_is_missing_has_no_mean() -> None:
    values = np.array([[1.0, np.nan], [1.0, np.inf], [1.0, 0.0], [1.0, -1.0]])
    np.testing.assert_array_equal(centre(values, log=False), [np.nan, np.nan, 0.5, 0.0])
    assert np.isnan(centre(values, log=True)).all()


def test_of_many_seeds_the_middle() -> None:
    """The 10 % quantile of eleven is the second of them."""
    values = np.random.default_rng(1).uniform(1, 9, (3, 11))
    ordered = np.sort(values, axis=1)
    np.testing.assert_array_equal(seed_range(values[:, :9]), [values[:, :9].min(axis=1), values[:, :9].max(axis=1)])
    np.testing.assert_allclose(seed_range(values), [ordered[:, 1], ordered[:, 9]])
    values[1, 4] = np.inf
    assert np.isfinite(seed_range(values[:, :3])).all()
    assert np.isnan(seed_range(values[:, :9])[1][1])
