"""KernelRidge: scikit-learn's checks, its own KernelRidge, weights, duplicates, bad input."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from simlab.core.errors import BadInput
from simlab.kernels import Kernel, gaussian, laplace, nngp, ntk
from simlab.machines import GaussianProcess, KernelRidge

X, TEST = np.split(np.random.default_rng(11).standard_normal((70, 3)), [50])
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])


@pytest.mark.parametrize(
    "machine",
    [
        KernelRidge(ntk(2)),
        KernelRidge(laplace(1.0), ridge=0.1),
        KernelRidge(gaussian(0.5)),
        GaussianProcess(ntk(2), noise=0.1),
    ],
    ids=repr,
)
def test_every_check_of_scikit_learn_passes(machine: Any) -> None:
    with warnings.catch_warnings():
        # On purpose: scikit-learn is optional here.
        warnings.filterwarnings("ignore", message=r"Estimator \w+ does not inherit from `sklearn.base.BaseEstimator`")
        rows = check_estimator(machine, on_skip=None, on_fail=None)
    wrong = {row["check_name"]: row["exception"] for row in rows if row["status"] != "passed"}
    assert list(wrong) in ([], ["check_array_api_input"]), wrong  # skipped unless SCIPY_ARRAY_API is set
    assert len(rows) >= 50


def test_needs_no_scikit_learn() -> None:
    code = "import sys, simlab.machines; assert not {'scipy', 'sklearn', 'numba'} & set(sys.modules)\n"
    code += "sys.modules['sklearn'] = None\nfrom simlab.kernels import ntk\nfrom simlab.machines import KernelRidge\n"
    code += "m = KernelRidge(ntk(2))\ntry: m.predict([[1.0]])\nexcept ValueError as e: print(e)\n"
    code += "print(m.set_params(kernel__depth=3).fit([[1.0], [2.0]], [1.0, 2.0]).score([[3.0], [4.0]], [3.0, 4.0]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["this KernelRidge is not fitted: call fit first", "1.0"]


@pytest.mark.parametrize("ridge", [1e-4, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_scikit_learn(ridge: float, weighted: bool) -> None:
    weights = np.random.default_rng(12).uniform(0.1, 3.0, 50) if weighted else None
    ours = KernelRidge(ntk(3), ridge).fit(X, Y, sample_weight=weights)
    theirs = Theirs(alpha=ridge, kernel="precomputed").fit(ntk(3).gram(X), Y, sample_weight=weights)
    predicted = ours.predict(TEST)
    np.testing.assert_allclose(predicted, theirs.predict(ntk(3).gram(TEST, X)), rtol=1e-10, atol=1e-10)
    assert ours.score(TEST, np.sin(TEST[:, :2])) == pytest.approx(r2_score(np.sin(TEST[:, :2]), predicted), abs=1e-12)
    assert ours.method_ == "cholesky"


def test_weights_are_repetitions() -> None:
    """An integer weight is that many copies, 0 is none; also at ridge 0, where copies make the Gram singular."""
    counts = np.random.default_rng(12).integers(0, 4, 50)
    for ridge in (0.0, 0.3):
        weighted = KernelRidge(laplace(1.0), ridge).fit(X, Y, sample_weight=counts)
        repeated = KernelRidge(laplace(1.0), ridge).fit(X.repeat(counts, axis=0), Y.repeat(counts, axis=0))
        np.testing.assert_allclose(weighted.predict(TEST), repeated.predict(TEST), rtol=1e-9, atol=1e-9)


def test_interpolates_and_takes_the_mean_of_duplicates() -> None:
    smooth = KernelRidge(ntk(2)).fit(X, Y)
    np.testing.assert_allclose(smooth.predict(X), Y, atol=1e-10)
    assert smooth.note_ == ""
    twice = KernelRidge(ntk(2)).fit(np.vstack([X, X]), np.vstack([Y, Y + 1.0]))
    np.testing.assert_allclose(twice.predict(X), Y + 0.5, atol=1e-10)
    np.testing.assert_allclose(twice.predict(TEST), KernelRidge(ntk(2)).fit(X, Y + 0.5).predict(TEST), atol=1e-9)
    assert "rank 50 of 100" in twice.note_
    assert twice.rank_ == 50
    assert twice.residual_ == pytest.approx(0.5 * 200**0.5 / np.linalg.norm(np.vstack([Y, Y + 1.0])))


def test_ridge_and_kernel_are_chosen_by_search() -> None:
    labels = Y[:, 0] + 0.1 * np.random.default_rng(12).standard_normal(50)
    grid = {"kernel__depth": [2, 3, 5], "ridge": [1e-3, 0.1, 10.0]}
    search = GridSearchCV(KernelRidge(ntk(2)), grid, cv=3).fit(X, labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_
    assert best.kernel == ntk(search.best_params_["kernel__depth"])
    again = pickle.loads(pickle.dumps(best))
    assert np.array_equal(again.predict(TEST), best.predict(TEST))
    assert clone(best).get_params() == best.get_params()


def test_parameters_of_parameters() -> None:
    machine = KernelRidge(2.0 * ntk(2))
    assert machine.get_params()["kernel__kernel__depth"] == 2
    assert machine.set_params(kernel__kernel__depth=4, ridge=1).kernel == 2.0 * ntk(4)
    assert machine.set_params(kernel__depth=7, kernel=ntk(3)).kernel == ntk(7)
    assert repr(machine) == "KernelRidge(kernel=ntk(depth=7), ridge=1)"
    with pytest.raises(BadInput, match=r"kernel__dept: unknown parameter; did you mean"):
        machine.set_params(kernel__dept=3)
    with pytest.raises(BadInput, match="depth = 0: must be"):
        machine.set_params(kernel__depth=0)


def test_the_caller_may_change_its_arrays() -> None:
    data, labels = X.copy(), Y.copy()
    machine = KernelRidge(nngp(3), 0.1).fit(data, labels)
    before = machine.predict(TEST)
    data[:], labels[:] = 0.0, 0.0
    assert np.array_equal(machine.predict(TEST), before)


def test_float32_inputs_are_computed_in_float64() -> None:
    small = X.astype(np.float32)
    found = KernelRidge(ntk(3)).fit(small, Y).predict(TEST.astype(np.float32))
    assert found.dtype == np.float64
    wide = KernelRidge(ntk(3)).fit(small.astype(float), Y).predict(TEST.astype(np.float32).astype(float))
    np.testing.assert_allclose(found, wide, rtol=1e-12, atol=1e-12)


NAN = np.where(np.arange(50)[:, None] == 7, np.nan, X)


@pytest.mark.parametrize(
    ("machine", "data", "labels", "message"),
    [
        (KernelRidge(ntk(2)), NAN, Y, "X[7, 0] = nan: must be finite"),
        (KernelRidge(ntk(2)), X, NAN, "y[7, 0] = nan: must be finite"),
        (KernelRidge(ntk(2)), X * np.array([1, np.inf, 1]), Y, "X[0, 1] = inf: must be finite"),
        (KernelRidge(ntk(2)), X, Y[:-1], "y has shape (49, 2): must be (50,) or (50, outputs)"),
        (KernelRidge(ntk(2)), X[0], Y, "X has shape (3,): must be a matrix"),
        (KernelRidge(ntk(2)), [["a", "b"]], [1.0], "X has dtype <U1, such as 'a': must be real numbers"),
        (KernelRidge(ntk(2), ridge=-1.0), X, Y, "ridge = -1.0: must be 0 or more"),
        (KernelRidge(ntk(2), ridge=float("nan")), X, Y, "ridge = nan: must be finite"),
        (KernelRidge("rbf"), X, Y, "kernel = 'rbf': must be a kernel"),
        (KernelRidge(None), X, Y, "kernel = None: must be a kernel"),
        (GaussianProcess(ntk(2), noise=-0.1), X, Y, "noise = -0.1: must be 0 or more"),
        (GaussianProcess(ntk), X, Y, "must be a kernel"),
    ],
)
def test_refuses_in_one_line(machine: Any, data: Any, labels: Any, message: str) -> None:
    with pytest.raises(BadInput) as error:
        machine.fit(data, labels)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_fit_that_fails_leaves_no_half_of_a_machine() -> None:
    machine = KernelRidge(ntk(2), ridge=1e-300)
    with pytest.raises(BadInput, match="coefficients overflow"):
        machine.fit(np.zeros((3, 2)), [1.0, 2.0, 1e10])
    with pytest.raises(BadInput, match="not fitted"):
        machine.predict(np.zeros((1, 2)))


@pytest.mark.parametrize("machine", [KernelRidge(ntk(2)), GaussianProcess(ntk(2))], ids=repr)
def test_predictions_that_overflow_are_an_error(machine: Any) -> None:
    machine.fit([[1.0], [-2.0]], [1e300, 1e300])
    with pytest.raises(BadInput, match="predictions overflow"):
        machine.predict([[1e20]])


@pytest.mark.parametrize("weights", [np.zeros(50), -np.ones(50), np.ones(49), np.full(50, np.nan)])
def test_refuses_weights(weights: Any) -> None:
    with pytest.raises(BadInput, match="sample_weight"):
        KernelRidge(ntk(2)).fit(X, Y, sample_weight=weights)


coordinates = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-8, 3.0, 1e-160])
rows = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8)
ridges = st.one_of(st.just(0.0), st.floats(1e-200, 1e6))
kernels = st.sampled_from([ntk(2), ntk(3), nngp(2), laplace(1.0), gaussian(0.3)])


@given(rows, st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8), ridges, kernels)
def test_finite_and_honest_on_any_data(points: Any, values: Any, ridge: float, kernel: Kernel) -> None:
    """Duplicates, zero vectors, any ridge: predictions are finite, and the residual stated is the true one."""
    data, labels = np.array(points), np.array(values[: len(points)])
    machine = KernelRidge(kernel, ridge).fit(data, labels)
    assert np.isfinite(machine.predict(data)).all()
    assert np.isfinite(machine.predict([[0.3, -2.0], [0.0, 0.0]])).all()
    A = kernel.gram(data) + ridge * np.eye(len(points))
    true = np.linalg.norm(labels - A @ machine.dual_coef_)
    rounding = 1e-14 * len(points) * (np.abs(A) @ np.abs(machine.dual_coef_)).max()
    assert machine.residual_ * np.linalg.norm(labels) == pytest.approx(true, rel=1e-9, abs=rounding + 1e-300)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_samples_are_solved_by_iteration(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits lowered: the same answer as by factorising."""
    weights = np.random.default_rng(12).uniform(0.1, 3.0, 50) if weighted else None
    dense = KernelRidge(ntk(3), 0.1).fit(X, Y, sample_weight=weights)
    monkeypatch.setattr("simlab.machines.kernel_ridge.DENSE_SAMPLES", 40)
    monkeypatch.setattr("simlab.machines.solver.SMALL_SAMPLES", 40)
    found = KernelRidge(ntk(3), 0.1).fit(X, Y, sample_weight=weights)
    assert "conjugate gradients" in found.method_
    assert found.residual_ <= 1e-10
    assert found.dual_coef_.shape == Y.shape
    np.testing.assert_allclose(found.predict(TEST), dense.predict(TEST), atol=1e-8)
    single = KernelRidge(ntk(3), 0.1).fit(X, Y[:, 0], sample_weight=weights)
    np.testing.assert_allclose(single.predict(TEST), dense.predict(TEST)[:, 0], atol=1e-8)
