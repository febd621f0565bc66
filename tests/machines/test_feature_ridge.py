"""Ridge regression over features against NumPy's own least squares and against kernel ridge regression with K = ΦΦᵀ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.utils.estimator_checks import check_estimator

from simlab import networks
from simlab.core.errors import BadInput
from simlab.machines.feature_ridge import FeatureRidge, feature_path, finite_map, normal_equations, solve_normal

d = 5
SMALL = 2000
"""Bytes of a block, so that there are dozens of them."""
MAPS = [
    networks.get("random_features", width=40, activation="erf", weight_std=1.5, bias_std=0.5),
    networks.get("neural_tangent", width=7, activation="gelu"),
    networks.get("fourier_features", width=40),
]


def problem(n: int, outputs: tuple[int, ...] = ()) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(2)
    return rng.standard_normal((n, d)), rng.standard_normal((n, *outputs)), rng.standard_normal((9, d))


def matrices(features: Any, X: NDArray[Any], seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    weights = features.draw(d, np.random.default_rng(seed))
    return weights, features.features_of(weights, X)


def direct(Phi: NDArray[Any], y: NDArray[Any], ridge: float) -> NDArray[Any]:
    """Least squares of [Φ; √λ I] a = [y; 0], by NumPy's singular values."""
    p = Phi.shape[1]
    a: NDArray[Any] = np.linalg.lstsq(
        np.vstack([Phi, np.sqrt(ridge) * np.eye(p)]), np.concatenate([y, np.zeros((p, *y.shape[1:]))]), rcond=None
    )[0]
    return a


@pytest.mark.parametrize("features", MAPS, ids=lambda f: type(f).__module__.rpartition(".")[2])
@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("ridge", [0.0, 1e-9, 0.3])
@pytest.mark.parametrize("outputs", [(), (3,)])
def test_any_shape_is_least_squares(features: Any, n: int, ridge: float, outputs: tuple[int, ...]) -> None:
    X, y, test = problem(n, outputs)
    machine = FeatureRidge(features, ridge, seed=4, memory=SMALL).fit(X, y)
    assert machine.method_ == {20: "gram", 100: "normal" if ridge == 0.3 else "qr"}[n]
    _, Phi = matrices(features, np.concatenate([X, test]), seed=4)
    a = direct(Phi[:n], y, ridge)
    assert machine.coef_.shape == a.shape
    assert np.allclose(machine.coef_, a, rtol=1e-6, atol=1e-8)
    assert np.allclose(machine.predict(test), Phi[n:] @ a, rtol=1e-7, atol=1e-9)
    assert machine.residual_ < 1e-10
    assert machine.note_ == ""


@pytest.mark.parametrize("features", MAPS, ids=lambda f: type(f).__module__.rpartition(".")[2])
@pytest.mark.parametrize("n", [20, 100])
def test_in_small_blocks_as_at_once(features: Any, n: int) -> None:
    X, y, test = problem(n)
    weights, _ = matrices(features, X)
    small, whole = (feature_path(features, weights, X, y, [0.0, 1e-3, 1.0], memory) for memory in (SMALL, None))
    f, g = small.predict(test, SMALL), whole.predict(test)
    assert f.shape == (3, 9)
    assert np.allclose(f, g, rtol=1e-10, atol=1e-10)
    for ridge, at in zip(whole.ridges, g, strict=True):
        assert np.allclose(at, FeatureRidge(features, ridge).fit(X, y).predict(test), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n", [20, 100])
def test_is_kernel_ridge_regression_with_the_kernel_of_the_features(n: int) -> None:
    """f(x) = K(x, X)(K + λI)⁻¹y with K = ΦΦᵀ, whichever way was taken (MATH §5)."""
    X, y, test = problem(n)
    for features in MAPS:
        _, Phi = matrices(features, np.concatenate([X, test]))
        K = Phi @ Phi.T
        expected = K[n:, :n] @ np.linalg.solve(K[:n, :n] + 0.1 * np.eye(n), y)
        assert np.allclose(FeatureRidge(features, 0.1).fit(X, y).predict(test), expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(("n", "method"), [(4, "gram"), (200, "qr")])
def test_dependent_features_give_the_answer_of_least_norm_and_say_so(n: int, method: str) -> None:
    """x ↦ w·x has rank d however many features; n = 4 inputs of which two are the same, or 200."""
    X, y, _ = problem(n)
    X[1] = X[0]
    linear = networks.get("random_features", width=12, activation={"kind": "monomial", "degree": 1})
    machine = FeatureRidge(linear).fit(X, y)
    assert machine.method_ == method
    _, Phi = matrices(linear, X)
    assert np.allclose(machine.coef_, np.linalg.pinv(Phi, rcond=1e-10) @ y, rtol=1e-8, atol=1e-10)
    assert f"rank {min(n - 1, d)} of {min(n, 12)}" in machine.note_
    assert machine.predict(X[:1]) == pytest.approx(machine.predict(X[1:2]), rel=1e-12)


def test_badly_conditioned_features_are_not_squared() -> None:
    """Seven slow cosines, cond Φ = 6e9: normal equations have no digit left, QR has about eps·cond = 1e-6."""
    features: Any = networks.get("fourier_features", width=7, scale=4.0)
    X = np.linspace(-1, 1, 300)[:, np.newaxis]
    weights = features.draw(1, np.random.default_rng(0))
    Phi = features.features_of(weights, X)
    y = Phi @ np.ones(7)
    cond = np.linalg.cond(Phi)
    assert 1e9 < cond < 1e10
    ours = feature_path(features, weights, X, y, [0.0], memory=SMALL)
    assert ours.method == "qr"
    assert np.max(np.abs(ours.coefficients - 1)) < 10 * cond * 2.2e-16
    squared = solve_normal(normal_equations(finite_map(features, weights), [(X, y)]), [0.0])[0]
    assert np.max(np.abs(squared.coefficients - 1)) > 1e-2


def test_fresh_samples_without_end_give_the_population_answer() -> None:
    """E relu(w·x)relu(v·x) = ‖w‖‖v‖κ1/2 for Gaussian x (MATH §7): ΦᵀΦ/n within 5 standard errors of it."""
    features: Any = networks.get("random_features", width=6)
    weights = features.draw(d, np.random.default_rng(0))
    rng = np.random.default_rng(1)

    def samples(blocks: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        for _ in range(blocks):
            X = rng.standard_normal((500, d))
            yield X, X[:, 0]

    map_of = finite_map(features, weights)
    parts = [normal_equations(map_of, samples(2)) for _ in range(50)]
    G = np.array([part.gram for part in parts]) / 1000
    norms = np.linalg.norm(weights, axis=1)
    angle = np.arccos(np.clip(weights @ weights.T / np.outer(norms, norms), -1, 1))
    kappa1 = (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
    expected = np.outer(norms, norms) * kappa1 / 2 * 2 / 6  # normalised by 1/E relu² = 2 and the width
    assert np.all(np.abs(G.mean(0) - expected) < 5 * G.std(0) / np.sqrt(50))
    assert np.array_equal(parts[0].gram, parts[0].gram.T)
    # E x₁² = 1, E x₁ relu(w·x) = w₁/2
    r, power = np.array([p.moment for p in parts]) / 1000, np.array([p.power for p in parts]) / 1000
    assert np.all(np.abs(r.mean(0) - weights[:, 0] / 2 * np.sqrt(2 / 6)) < 5 * r.std(0) / np.sqrt(50))
    assert abs(power.mean() - 1) < 5 * power.std() / np.sqrt(50)
    with pytest.raises(BadInput, match="blocks: there is none"):
        normal_equations(map_of, [])


def test_the_weights_come_from_the_seed() -> None:
    X, y, test = problem(30)
    f, g, h = (FeatureRidge(MAPS[0], 0.1, seed=seed).fit(X, y).predict(test) for seed in (1, 1, 2))
    assert np.array_equal(f, g)
    assert not np.allclose(f, h)
    drawn = FeatureRidge(MAPS[0], 0.1, seed=np.random.default_rng(1)).fit(X, y)
    assert np.array_equal(drawn.predict(test), f)
    assert drawn.score(X, y) > 0.5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"features": networks.get("mlp", width=3, depth=2)}, "features = 'mlp': must be a feature map"),
        ({"ridge": -1.0}, r"ridges\[0\] = -1.0: must be 0 or more"),
        ({"seed": "x"}, "seed = 'x': must be a number"),
        ({"memory": 0}, "memory = 0: must be 1 or more"),
        ({"X": np.zeros((3, 0))}, "X has 0 feature"),
        ({"y": np.zeros(7)}, r"y has shape \(7,\)"),
        (
            {"X": np.full((30, d), 1e300), "features": networks.get("random_features", width=3, activation="exp")},
            "NaN or",
        ),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_a_line(given: dict[str, Any], says: str) -> None:
    X, y, _ = problem(30)
    chosen = {"X": X, "y": y, "features": MAPS[0]} | given
    data = (chosen.pop("X"), chosen.pop("y"))
    with pytest.raises(BadInput, match=says) as caught:
        FeatureRidge(**chosen).fit(*data)
    assert "\n" not in str(caught.value)


def test_too_large_for_the_memory_is_refused() -> None:
    X = np.zeros((10**7, 1))
    features: Any = networks.get("random_features", width=10**7)
    with pytest.raises(BadInput, match=r"10000000 features of 10000000 samples: .* GB needed"):
        feature_path(features, np.zeros((1, 1)), X, X[:, 0], [0.0])


def test_every_check_of_scikit_learn_passes() -> None:
    with warnings.catch_warnings():
        # On purpose: scikit-learn is optional here.
        warnings.filterwarnings("ignore", message=r"Estimator \w+ does not inherit from `sklearn.base.BaseEstimator`")
        machine = FeatureRidge(networks.get("random_features", width=300), ridge=1e-3)
        rows = check_estimator(machine, on_skip=None, on_fail=None)
    wrong = {row["check_name"]: row["exception"] for row in rows if row["status"] != "passed"}
    assert list(wrong) in ([], ["check_array_api_input"]), wrong  # skipped unless SCIPY_ARRAY_API is set
    assert len(rows) >= 45
