"""Gaussian processes: against scikit-learn's, and draws against their moments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from simlab.core.errors import BadInput
from simlab.kernels import gaussian, laplace, ntk
from simlab.machines import GaussianProcess, KernelRidge

X, TEST = np.split(np.random.default_rng(8).standard_normal((55, 3)), [40])
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] + 1.0])


def test_against_scikit_learn() -> None:
    """exp(−c‖x−y‖²/2) is their RBF of length scale c^{−1/2}."""
    theirs = GaussianProcessRegressor(RBF(0.7**-0.5), alpha=0.05, optimizer=None).fit(X, Y[:, 0])
    ours = GaussianProcess(gaussian(0.7), noise=0.05).fit(X, Y[:, 0])
    for option in ("return_std", "return_cov"):
        for found, expected in zip(
            ours.predict(TEST, **{option: True}), theirs.predict(TEST, **{option: True}), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), rel=1e-10)
    np.testing.assert_allclose(ours.predict(TEST), KernelRidge(gaussian(0.7), 0.05).fit(X, Y[:, 0]).predict(TEST))


def test_outputs_share_the_covariance_and_evidences_add() -> None:
    both = GaussianProcess(ntk(3), noise=0.1).fit(X, Y)
    single = [GaussianProcess(ntk(3), noise=0.1).fit(X, column) for column in Y.T]
    mean, std = both.predict(TEST, return_std=True)
    assert (mean.shape, std.shape) == ((15, 2), (15,))
    for column, machine in enumerate(single):
        np.testing.assert_allclose(mean[:, column], machine.predict(TEST), rtol=1e-12)
    K = ntk(3).gram(X) + 0.1 * np.eye(40)
    expected = sum(multivariate_normal(np.zeros(40), K).logpdf(column) for column in Y.T)
    assert both.log_marginal_likelihood() == pytest.approx(expected, rel=1e-10)


def test_without_noise_the_variance_vanishes_on_the_data_within_the_stated_bound() -> None:
    kernel = laplace(1.0)
    machine = GaussianProcess(kernel).fit(X, Y)
    mean, std = machine.predict(X, return_std=True)
    np.testing.assert_allclose(mean, Y, atol=1e-11)
    bound = 40 * np.finfo(float).eps * (np.linalg.norm(kernel.gram(X), 2) + 1.0)
    assert (std**2).max() <= bound
    assert machine.predict(TEST, return_std=True)[1].min() > 1e-3


def test_duplicates_without_noise_are_the_limit_of_little_noise() -> None:
    data, labels = np.vstack([X, X[:4]]), np.concatenate([Y[:, 0], Y[:4, 0] + 1.0])
    machine = GaussianProcess(ntk(2)).fit(data, labels)
    assert "rank 40 of 44" in machine.note_
    errors = []
    for noise in (1e-5, 1e-6):
        near = GaussianProcess(ntk(2), noise=noise).fit(data, labels).predict(TEST, return_cov=True)
        pairs = zip(near, machine.predict(TEST, return_cov=True), strict=True)
        errors.append([np.abs(found - limit).max() for found, limit in pairs])
    assert np.max(errors) < 1e-3
    np.testing.assert_allclose(np.divide(*errors), 10.0, rtol=0.01)  # the next order is proportional to the noise
    np.testing.assert_allclose(machine.predict(X[:4]), Y[:4, 0] + 0.5, atol=1e-10)
    with pytest.raises(BadInput, match=r"noise = 0\.0: .*rank 40 of 44.*no density; give a noise above 0"):
        machine.log_marginal_likelihood()


def test_draws_have_the_moments_of_the_process() -> None:
    """Within 5 standard errors: of a mean √(C_ii/N), of a second moment √((C_ii C_jj + C_ij²)/N)."""
    count, points = 40_000, np.vstack([TEST[:5], TEST[:1]])  # one twice: a singular covariance
    machine = GaussianProcess(ntk(3), noise=0.2).fit(X, Y[:, 0])
    prior = machine.sample_prior(points, count, np.random.default_rng(1))
    posterior = machine.sample_posterior(points, count, np.random.default_rng(2))
    for draws, (mean, C) in (
        (prior, (np.zeros(6), ntk(3).gram(points))),
        (posterior, machine.predict(points, return_cov=True)),
    ):
        assert draws.shape == (count, 6)
        variance = np.diagonal(C)
        assert (np.abs(draws.mean(axis=0) - mean) < 5 * np.sqrt(variance / count)).all()
        second = (draws - mean).T @ (draws - mean) / count
        assert (np.abs(second - C) < 5 * np.sqrt((np.outer(variance, variance) + C**2) / count)).all()
        np.testing.assert_allclose(draws[:, 0], draws[:, 5], atol=1e-6)


def test_draws_of_several_outputs_and_of_known_points() -> None:
    machine = GaussianProcess(laplace(1.0)).fit(X, Y)
    draws = machine.sample_posterior(X[:6], 7, np.random.default_rng(3))
    assert draws.shape == (7, 6, 2)
    np.testing.assert_allclose(draws, np.broadcast_to(Y[:6], draws.shape), atol=1e-6)
    again = machine.sample_posterior(X[:6], 7, np.random.default_rng(3))
    assert np.array_equal(draws, again)


def test_refuses() -> None:
    machine = GaussianProcess(ntk(2))
    with pytest.raises(BadInput, match="not fitted"):
        machine.log_marginal_likelihood()
    with pytest.raises(BadInput, match="count = 0"):
        machine.sample_prior(X, 0, np.random.default_rng(4))
    with pytest.raises(BadInput, match="at most one"):
        machine.fit(X, Y).predict(X, return_std=True, return_cov=True)
