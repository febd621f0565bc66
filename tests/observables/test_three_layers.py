"""Observables of the three-layer mean-field net against closed forms, Monte Carlo and finite differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from simlab.core.rng import Streams
from simlab.data import ball_fourier
from simlab.networks import three_layer_mean_field as net
from simlab.networks.bound import Bound
from simlab.observables import discretisation_error, first_layer, loss_split, neuron_symmetry, outer_particles
from simlab.observables.view import View
from simlab.sphere.mean_relu import c_gamma
from simlab.sphere.zonal import axes
from simlab.targets import axis_relu, radial_relu

Floats = NDArray[np.float64]
d = 4


def view(network: net.Params, radial: bool = True, n: int = 300, tests: int = 2000, **fields: Any) -> View:
    rng = np.random.default_rng(7)
    X, X_test = (ball_fourier.sample(ball_fourier.Params(dim=d), k, rng) for k in (n, tests))
    kind: Any = radial_relu if radial else axis_relu
    target = kind.draw(kind.Params(), d, rng)
    theta = net.initialise(network, d, rng)
    given = {"theta": theta, "theta0": theta, "X": X, "y": target(X), "X_test": X_test, "y_test": target(X_test)}
    return View(**(given | {"network": network, "alpha": 1.0} | fields))


def cross_polytope(size: float) -> Floats:
    return size * np.concatenate([np.eye(d), -np.eye(d)])


def with_neurons(V: Floats, **fields: Any) -> View:
    """A net of given first-layer neurons."""
    network = net.Params(width=len(V), outer_width=3, spread=0.0)
    theta = net.initialise(network, d, np.random.default_rng(0))
    theta[: V.size] = V.ravel()
    return view(network, theta=theta, **fields)


def test_first_layer_of_neurons_along_the_axes() -> None:
    """±e_k of length 2: F = (4/2d) Σ|x_k|, between ‖x‖·4/2d and √d times that."""
    at = with_neurons(cross_polytope(2.0))
    found = first_layer.measure(first_layer.Params(groups=4), at)
    alpha, r = 4 * c_gamma(d) / d**0.5, np.linalg.norm(at.X_test, axis=1)
    F = np.abs(at.X_test).sum(axis=1) * 4 / (2 * d)
    ratio = F / (alpha * r)
    assert found["alpha"] == pytest.approx(alpha, rel=1e-12)
    expected = [ratio.mean(), ratio.std(), ratio.min(), ratio.max()]
    names = ("mean", "std", "min", "max")
    assert [found[f"first_layer_{name}"] for name in names] == pytest.approx(expected, rel=1e-12)
    assert 0.5 / alpha <= found["first_layer_min"]
    assert found["first_layer_max"] <= 0.5 * d**0.5 / alpha
    assert abs(found["first_layer_mean"] - 1.0) < 4 * ratio.std() / len(r) ** 0.5  # E|x̄_k| = 2 C_Γ/√d
    inner = r <= np.sort(r)[499]
    assert found["group_radius"][0] == pytest.approx(np.median(r[inner]), rel=1e-12)
    assert found["first_layer_by_radius"][0] == pytest.approx(np.median(F[inner]) / alpha, rel=1e-12)
    assert np.all(np.diff(found["group_radius"]) > 0)


@pytest.mark.parametrize("width", [1, 30])
def test_discretisation_error_by_monte_carlo(width: int) -> None:
    at = view(net.Params(width=width))
    found = discretisation_error.measure(discretisation_error.Params(), at)
    units = np.random.default_rng(3).standard_normal((200_000, d))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    squares = (net.first_layer(at.network, at.theta, units) / net.alpha(at.network, at.theta) - 1.0) ** 2  # type: ignore[arg-type]
    error = squares.std() / len(squares) ** 0.5
    assert abs(found["discretisation_error"] - squares.mean()) < 4 * error
    assert error < 0.01 * squares.mean()
    if width == 1:  # E σ²/(C_Γ²/d) − 1 with E σ² = 1/2d
        assert found["discretisation_error"] == pytest.approx(0.5 / c_gamma(d) ** 2 - 1, rel=1e-12)


@pytest.mark.parametrize("trained", ["both", "first", "second"])
def test_its_rate_is_a_difference_quotient_along_the_velocity(trained: Any) -> None:
    at = view(net.Params(width=25, trained=trained))
    found = discretisation_error.measure(discretisation_error.Params(), at)
    velocity = -25 * Bound(at.network, d).loss_and_gradient(at.theta, at.X, at.y)[1]
    h = 1e-4

    def error(step: float) -> float:
        V = net.particles(at.network, at.theta + step * velocity)[0]  # type: ignore[arg-type]
        return discretisation_error.relative_error(V)[0]

    assert found["discretisation_rate"] == pytest.approx((error(h) - error(-h)) / (2 * h), rel=1e-5, abs=1e-12)
    assert (found["discretisation_rate"] == 0.0) is (trained == "second")


def test_its_mean_over_random_neurons() -> None:
    """ρ[1/(2C_Γ²) − 1]/m to leading order, ρ = E‖v‖⁴/(E‖v‖²)² = 1 + 2/d for normal vectors; to 2 errors of 2 %,
    far less than the (ρ − 1)/m by which α itself varies."""
    rng, m, draws = np.random.default_rng(5), 100, 1000
    for fourth, scaled in ((1 + 2 / d, False), (1.0, True)):
        errors = []
        for _ in range(draws):
            V = rng.standard_normal((m, d))
            V = V / np.linalg.norm(V, axis=1, keepdims=True) if scaled else V
            errors.append(discretisation_error.relative_error(V)[0])
        expected = fourth * (1 / (2 * c_gamma(d) ** 2) - 1) / m
        error = np.std(errors) / draws**0.5
        assert abs(np.mean(errors) - expected) < 2 * error + 2 * expected / m
        assert error < 0.02 * expected


def test_loss_split_is_exact_and_its_cross_term_is_noise_for_a_radial_target_alone() -> None:
    """f̃ as a mean of f itself over its directions; the cross term within 4 standard errors, an axis' beyond 6."""
    for radial in (True, False):
        at = view(net.Params(width=10, stretch=4.0, outer_width=6), radial=radial, tests=4000)
        found = loss_split.measure(loss_split.Params(), at)
        assert found["split_loss"] == pytest.approx(at.half_mean_square(at.X_test, at.y_test), rel=1e-12)
        parts = found["split_radial"] + found["split_spread"] + found["split_cross"]
        assert parts == pytest.approx(found["split_loss"], rel=1e-12)
        z = abs(found["split_cross"]) / found["split_cross_error"]
        assert z < 4 if radial else z > 6
        assert found["split_spread"] > 100 * found["split_cross_error"] ** 2
    units = axes(500, d, Streams(0)["symmetrisation"])
    F = net.first_layer(at.network, at.theta, units)  # type: ignore[arg-type]
    assert abs(F.mean() - net.alpha(at.network, at.theta)) < 4 * F.std() / 500**0.5  # type: ignore[arg-type]
    r = np.linalg.norm(at.X_test[:200], axis=1)
    fine = np.array([np.mean(net.forward(at.network, at.theta, size * units)) for size in r])
    few = replace(at, X_test=at.X_test[:200], y_test=at.y_test[:200], cache={})
    found = loss_split.measure(loss_split.Params(directions=500), few)
    f = few.predict(few.X_test)
    assert found["split_spread"] == pytest.approx(np.mean((fine - f) ** 2) / 2, rel=1e-10)
    assert found["split_radial"] == pytest.approx(np.mean((few.y_test - fine) ** 2) / 2, rel=1e-10)


def test_the_error_of_the_cross_term_is_its_spread() -> None:
    """Over independent test samples, with few directions of their own: z-scores have a variance about 1."""
    scores = []
    for seed in range(40):
        rng = np.random.default_rng([11, seed])
        X = ball_fourier.sample(ball_fourier.Params(dim=d), 500, rng)
        network = net.Params(width=8, stretch=4.0, outer_width=6)
        theta = net.initialise(network, d, rng)
        at = view(network, theta=theta, theta0=theta, X_test=X, y_test=np.maximum(1 - np.linalg.norm(X, axis=1), 0))
        found = loss_split.measure(loss_split.Params(directions=100), at)
        scores.append(found["split_cross"] / found["split_cross_error"])
    low, high = stats.chi2.ppf([0.001, 0.999], 40) / 40
    assert low < np.mean(np.square(scores)) < high


def test_an_even_spread_of_neurons_has_no_statistics() -> None:
    found = neuron_symmetry.measure(neuron_symmetry.Params(), with_neurons(cross_polytope(3.0)))
    names = ("norm_variation", "rayleigh", "bingham", "weighted_dipole", "weighted_quadrupole")
    assert [found[name] for name in names] == pytest.approx([0.0] * 5, abs=1e-6)
    assert [found[name] for name in ("rayleigh_p", "bingham_p")] == pytest.approx([1.0, 1.0], rel=1e-6)
    longer = cross_polytope(1.0)
    longer[0] *= 2.0  # weights 4 and seven times 1
    found = neuron_symmetry.measure(neuron_symmetry.Params(), with_neurons(longer))
    assert found["norm_variation"] == pytest.approx(np.std([2, *[1] * 7]) / np.mean([2, *[1] * 7]), rel=1e-12)
    assert found["rayleigh"] == pytest.approx(0.0, abs=1e-12)
    assert found["weighted_dipole"] == pytest.approx(3 / 11, rel=1e-12)
    weights = np.array([5, 2, 2, 2]) / 11
    assert found["weighted_quadrupole"] == pytest.approx((d * weights @ weights - 1) ** 0.5, rel=1e-12)


def test_p_values_are_uniform_for_even_laws_and_vanish_for_others() -> None:
    rng = np.random.default_rng(4)

    def found(V: Floats) -> dict[str, float]:
        return neuron_symmetry.measure(neuron_symmetry.Params(), with_neurons(V, n=1, tests=1))

    even = [found(rng.standard_normal((200, d))) for _ in range(150)]
    for name in ("rayleigh_p", "bingham_p"):
        assert stats.kstest([row[name] for row in even], "uniform").pvalue > 1e-3
    stretched, shifted = rng.standard_normal((200, d)), rng.standard_normal((200, d))
    stretched[:, 0] *= 3.0
    shifted[:, 0] += 1.0
    assert found(stretched)["bingham_p"] < 1e-6 < 1e-3 < found(stretched)["rayleigh_p"]
    assert found(shifted)["rayleigh_p"] < 1e-6
    assert found(np.zeros((3, d)))["rayleigh"] != found(np.zeros((3, d)))["rayleigh"]  # no direction: NaN


def test_outer_particles_are_those_of_the_second_layer() -> None:
    at = view(net.Params(width=9, outer_width=4, w2=-2.0))
    found = outer_particles.measure(outer_particles.Params(), at)
    f = np.maximum(np.multiply.outer(net.first_layer(at.network, at.theta, at.X), found["outer_weight"]), -np.inf)  # type: ignore[arg-type]
    f = np.maximum(f + found["outer_bias"], 0.0).mean(axis=1)
    assert f == pytest.approx(at.predict(at.X), rel=1e-12)
    assert np.all((found["outer_weight"] >= -3.0) & (found["outer_weight"] <= -1.0))
