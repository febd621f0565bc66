"""Observables of the three-layer mean-field net against closed forms, Monte Carlo and finite differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from simlab import data, networks, observables, targets
from simlab.core.rng import Streams
from simlab.networks.bound import Bound
from simlab.networks.network import ThreeLayer
from simlab.observables.discretisation_error import relative_error
from simlab.observables.view import View
from simlab.sphere.mean_relu import c_gamma
from simlab.sphere.zonal import axes

Floats = NDArray[np.float64]
d = 4


def view(network: ThreeLayer, radial: bool = True, n: int = 300, tests: int = 2000, **fields: Any) -> View:
    rng = np.random.default_rng(7)
    X, X_test = (data.BallFourier(dim=d).sample(k, rng) for k in (n, tests))
    target = targets.get("radial_relu" if radial else "axis_relu").draw(d, rng)
    theta = network.initialise(d, rng)
    given = {"theta": theta, "theta0": theta, "X": X, "y": target(X), "X_test": X_test, "y_test": target(X_test)}
    return View(**(given | {"network": network, "alpha": 1.0} | fields))


def of(at: View) -> ThreeLayer:
    assert isinstance(at.network, ThreeLayer)
    return at.network


def cross_polytope(size: float) -> Floats:
    return size * np.concatenate([np.eye(d), -np.eye(d)])


def with_neurons(V: Floats, **fields: Any) -> View:
    """A net of given first-layer neurons."""
    network = networks.ThreeLayerMeanField(width=len(V), outer_width=3, spread=0.0)
    theta = network.initialise(d, np.random.default_rng(0))
    theta[: V.size] = V.ravel()
    return view(network, theta=theta, **fields)


def test_first_layer_of_neurons_along_the_axes() -> None:
    """±e_k of length 2: F = (4/2d) Σ|x_k|, between ‖x‖·4/2d and √d times that."""
    at = with_neurons(cross_polytope(2.0))
    found = observables.FirstLayer(groups=4).measure(at)
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
    at = view(networks.ThreeLayerMeanField(width=width))
    found = observables.DiscretisationError().measure(at)
    units = np.random.default_rng(3).standard_normal((200_000, d))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    squares = (of(at).first_layer(at.theta, units) / of(at).alpha(at.theta) - 1.0) ** 2
    error = squares.std() / len(squares) ** 0.5
    assert abs(found["discretisation_error"] - squares.mean()) < 4 * error
    assert error < 0.01 * squares.mean()
    if width == 1:  # E σ²/(C_Γ²/d) − 1 with E σ² = 1/2d
        assert found["discretisation_error"] == pytest.approx(0.5 / c_gamma(d) ** 2 - 1, rel=1e-12)


@pytest.mark.parametrize("trained", ["both", "first", "second"])
def test_its_rate_is_a_difference_quotient_along_the_velocity(trained: Any) -> None:
    at = view(networks.ThreeLayerMeanField(width=25, trained=trained))
    found = observables.DiscretisationError().measure(at)
    velocity = -25 * Bound(at.network, d).loss_and_gradient(at.theta, at.X, at.y)[1]
    h = 1e-4

    def error(step: float) -> float:
        V = of(at).particles(at.theta + step * velocity)[0]
        return relative_error(V)[0]

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
            errors.append(relative_error(V)[0])
        expected = fourth * (1 / (2 * c_gamma(d) ** 2) - 1) / m
        error = np.std(errors) / draws**0.5
        assert abs(np.mean(errors) - expected) < 2 * error + 2 * expected / m
        assert error < 0.02 * expected


def test_loss_split_is_exact_and_its_cross_term_is_noise_for_a_radial_target_alone() -> None:
    """f̃ as a mean of f itself over its directions; the cross term within 4 standard errors, an axis' beyond 6."""
    for radial in (True, False):
        at = view(networks.ThreeLayerMeanField(width=10, stretch=4.0, outer_width=6), radial=radial, tests=4000)
        found = observables.LossSplit().measure(at)
        assert found["split_loss"] == pytest.approx(at.mean_loss(at.X_test, at.y_test), rel=1e-12)
        parts = found["split_radial"] + found["split_spread"] + found["split_cross"]
        assert parts == pytest.approx(found["split_loss"], rel=1e-12)
        z = abs(found["split_cross"]) / found["split_cross_error"]
        assert z < 4 if radial else z > 6
        assert found["split_spread"] > 100 * found["split_cross_error"] ** 2
    units = axes(500, d, Streams(0)["symmetrisation"])
    F = of(at).first_layer(at.theta, units)
    assert abs(F.mean() - of(at).alpha(at.theta)) < 4 * F.std() / 500**0.5
    r = np.linalg.norm(at.X_test[:200], axis=1)
    fine = np.array([np.mean(of(at).forward(at.theta, size * units)) for size in r])
    few = replace(at, X_test=at.X_test[:200], y_test=at.y_test[:200], cache={})
    found = observables.LossSplit(directions=500).measure(few)
    f = few.predict(few.X_test)
    assert found["split_spread"] == pytest.approx(np.mean((fine - f) ** 2) / 2, rel=1e-10)
    assert found["split_radial"] == pytest.approx(np.mean((few.y_test - fine) ** 2) / 2, rel=1e-10)


def test_the_error_of_the_cross_term_is_its_spread() -> None:
    """Over independent test samples, with few directions of their own: z-scores have a variance about 1."""
    scores = []
    for seed in range(40):
        rng = np.random.default_rng([11, seed])
        X = data.BallFourier(dim=d).sample(500, rng)
        network = networks.ThreeLayerMeanField(width=8, stretch=4.0, outer_width=6)
        theta = network.initialise(d, rng)
        at = view(network, theta=theta, theta0=theta, X_test=X, y_test=np.maximum(1 - np.linalg.norm(X, axis=1), 0))
        found = observables.LossSplit(directions=100).measure(at)
        scores.append(found["split_cross"] / found["split_cross_error"])
    low, high = stats.chi2.ppf([0.001, 0.999], 40) / 40
    assert low < np.mean(np.square(scores)) < high


def test_an_even_spread_of_neurons_has_no_statistics() -> None:
    found = observables.NeuronSymmetry().measure(with_neurons(cross_polytope(3.0)))
    names = ("norm_variation", "rayleigh", "bingham", "weighted_dipole", "weighted_quadrupole")
    assert [found[name] for name in names] == pytest.approx([0.0] * 5, abs=1e-6)
    assert [found[name] for name in ("rayleigh_p", "bingham_p")] == pytest.approx([1.0, 1.0], rel=1e-6)
    longer = cross_polytope(1.0)
    longer[0] *= 2.0  # weights 4 and seven times 1
    found = observables.NeuronSymmetry().measure(with_neurons(longer))
    assert found["norm_variation"] == pytest.approx(np.std([2, *[1] * 7]) / np.mean([2, *[1] * 7]), rel=1e-12)
    assert found["rayleigh"] == pytest.approx(0.0, abs=1e-12)
    assert found["weighted_dipole"] == pytest.approx(3 / 11, rel=1e-12)
    weights = np.array([5, 2, 2, 2]) / 11
    assert found["weighted_quadrupole"] == pytest.approx((d * weights @ weights - 1) ** 0.5, rel=1e-12)


def test_p_values_are_uniform_for_even_laws_and_vanish_for_others() -> None:
    rng = np.random.default_rng(4)

    def found(V: Floats) -> dict[str, float]:
        return observables.NeuronSymmetry().measure(with_neurons(V, n=1, tests=1))

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
    at = view(networks.ThreeLayerMeanField(width=9, outer_width=4, w2=-2.0))
    found = observables.OuterParticles().measure(at)
    f = np.maximum(np.multiply.outer(of(at).first_layer(at.theta, at.X), found["outer_weight"]), -np.inf)
    f = np.maximum(f + found["outer_bias"], 0.0).mean(axis=1)
    assert f == pytest.approx(at.predict(at.X), rel=1e-12)
    assert np.all((found["outer_weight"] >= -3.0) & (found["outer_weight"] <= -1.0))
