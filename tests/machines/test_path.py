"""Ridge paths by iteration against scipy's solver, at every storage, preconditioner and kind of right-hand side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.kernels import Kernel, gaussian, laplace, nngp, ntk
from simlab.machines import conjugate, ridge_path, solve_path, solver
from simlab.machines._factor import Factor
from simlab.machines.nystrom import Nystrom
from simlab.machines.operator import Stored, Tiled

RIDGES = [10.0, 0.1, 1e-3, 1e-6]
Floats = NDArray[np.float64]


@pytest.fixture(autouse=True)
def _iterate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small problems, but not by the eigendecomposition."""
    monkeypatch.setattr(solver, "SMALL_SAMPLES", 0)


def sphere(n: int, d: int, seed: int = 0) -> Floats:
    X = np.random.default_rng(seed).standard_normal((n, d))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def problem(kernel: Kernel, n: int = 400, d: int = 5) -> tuple[Floats, Floats, Floats]:
    X = sphere(n, d)
    Y = np.stack([np.sin(3 * X[:, 0]), X[:, 1] * X[:, 2], np.random.default_rng(1).standard_normal(n)], axis=1)
    return X, Y, kernel.gram(X)


def direct(K: Floats, Y: Floats, ridge: float) -> Floats:
    return np.asarray(scipy.linalg.solve(K + ridge * np.eye(len(K)), Y, assume_a="pos"))


def residual_and_rounding(K: Floats, Y: Floats, alpha: Floats, ridge: float) -> tuple[float, float]:
    """The largest relative residual of the columns, and how far float64 may be from it.

    The residual is computed in long double. A product K α in float64, in whatever order a CPU's BLAS adds, is off by at
    most n ε |K||α|, entry by entry; the rest of y − (K + λ)α by less.
    """
    wide, size = np.longdouble, np.linalg.norm(Y, axis=0)
    exact = Y.astype(wide) - K.astype(wide) @ alpha.astype(wide) - wide(ridge) * alpha.astype(wide)
    largest = float(np.max(np.sqrt(np.sum(exact**2, axis=0)) / size))
    amount = np.abs(K) @ np.abs(alpha) + ridge * np.abs(alpha) + np.abs(Y)
    bound = (len(K) + 3) * np.finfo(np.float64).eps * np.linalg.norm(amount, axis=0) / size
    return largest, float(bound.max())


@pytest.mark.parametrize("kernel", [ntk(3), nngp(3), laplace(1.0), gaussian(2.0)], ids=repr)
def test_every_ridge_and_output_as_scipy_has_it(kernel: Kernel) -> None:
    """Predictions on the training inputs differ by at most the residual, whatever the condition number.

    The residuals here are made of rounding errors, which no two types of CPU share: they are bounded, not compared.
    """
    _, Y, K = problem(kernel)
    found = solve_path(K, Y, RIDGES)
    assert found.coefficients.shape == (4, *Y.shape)
    for ridge, alpha, residual in zip(RIDGES, found.coefficients, found.residuals, strict=True):
        true, _ = residual_and_rounding(K, Y, alpha, ridge)
        reached = 1e-10 if ridge > 1e-6 else 1e-8
        assert max(true, residual) < reached
        expected = K @ direct(K, Y, ridge)
        assert np.abs(K @ alpha - expected).max() < max(1e-9, 2 * np.sqrt(len(K)) * true)
    assert (found.note == "") == bool(found.residuals.max() <= 1e-10)


@pytest.mark.parametrize("kernel", [ntk(3), nngp(3), laplace(1.0), gaussian(2.0)], ids=repr)
def test_the_stated_residual_is_the_true_one(kernel: Kernel) -> None:
    """Stopped early, a residual stands far above rounding errors, and what is stated of it has digits to compare."""
    _, Y, K = problem(kernel)
    ridges = [10.0, 0.1]
    found = solve_path(K, Y, ridges, tolerance=1e-3)
    for ridge, alpha, residual in zip(ridges, found.coefficients, found.residuals, strict=True):
        true, rounding = residual_and_rounding(K, Y, alpha, ridge)
        assert 100 * rounding < true < 1e-3  # else there is nothing to compare
        assert abs(residual - true) <= rounding


def test_a_float32_matrix_is_refined_to_its_tolerance() -> None:
    _, Y, K = problem(ntk(3))
    stored = K.astype(np.float32)
    found = solve_path(stored, Y, RIDGES, tolerance=1e-8)
    assert found.residuals.max() <= 1e-8
    expected = direct(stored.astype(np.float64), Y, RIDGES[1])
    assert np.allclose(found.coefficients[1], expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_a_matrix_that_is_never_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks, the last of them ragged."""
    kernel = ntk(3)
    X, Y, K = problem(kernel, n=900)
    monkeypatch.setattr("simlab.machines.operator.BLOCK_BYTES", 8 * 384 * 384)
    tiled = Tiled(kernel, X, 1)
    assert np.allclose(tiled.apply(Y), K @ Y, rtol=0, atol=1e-11)
    assert np.allclose(tiled.columns(np.array([3, 800])), K[:, [3, 800]], rtol=0, atol=1e-14)
    assert np.array_equal(tiled.diagonal(), np.diag(K))
    path = ridge_path(kernel, X, Y[:, 0], [0.1], memory=0, threads=1)
    assert path.method.startswith("computed in every product")
    assert np.allclose(path.coefficients[0], direct(K, Y[:, 0], 0.1), rtol=0, atol=1e-8)


def test_memory_decides_how_the_matrix_is_stored() -> None:
    kernel = laplace(1.0)
    X, Y, K = problem(kernel)
    beside = 8 * 400 * 300
    by_memory = {
        8 * 400**2 + beside: "stored in float64",
        8 * 400**2 + beside - 1: "stored in float32",
        4 * 400**2 + beside - 1: "computed in every product",
    }
    new = sphere(50, 5, seed=3)
    for memory, storage in by_memory.items():
        path = ridge_path(kernel, X, Y, [1.0, 0.1], memory=memory)
        assert path.method.startswith(storage)
        expected = kernel.gram(new, X) @ direct(K, Y, 0.1)
        assert path.predict(new).shape == (2, 50, 3)
        assert np.allclose(path.predict(new)[1], expected, rtol=0, atol=1e-5)
    assert ridge_path(kernel, X, Y[:, 0], [1.0]).predict(new).shape == (1, 50)


def test_where_nystrom_is_slow_a_factor_takes_over() -> None:
    """Ridges far below the 20th eigenvalue of a slowly decaying spectrum; the largest ridge stays with Nyström."""
    _, Y, K = problem(laplace(1.0), n=700, d=3)
    ridges = [1.0, 1e-5, 1e-6]
    found = solve_path(K, Y, ridges, rank=20, tolerance=1e-9)
    assert "Cholesky in float32 at ridge 1e-06" in found.method
    assert found.residuals.max() <= 1e-9
    slow = solve_path(_NotStored(K), Y, ridges, rank=20, tolerance=1e-9)
    assert "Cholesky" not in slow.method
    assert found.iterations.max() < slow.iterations.max() / 2


class _NotStored:
    """The same products without being a `Stored`, as a tiled matrix would be."""

    is_exact = True

    def __init__(self, K: Floats) -> None:
        self.K, self.size = K, len(K)

    def apply(self, P: Floats) -> Floats:
        return np.asarray(self.K @ P)

    exact = apply

    def columns(self, index: NDArray[np.int64]) -> Floats:
        return np.asarray(self.K[:, index])

    def diagonal(self) -> Floats:
        return np.asarray(np.diag(self.K))


def test_a_factor_in_float32_of_a_matrix_that_has_none_is_shifted() -> None:
    _, _, K = problem(gaussian(2.0))  # rank about 100 to float32's precision
    factor = Factor.of(Stored(K), 0.0, np.float32)
    assert np.isfinite(np.tril(factor.L)).all()
    R = np.random.default_rng(0).standard_normal((400, 2)) * 1e-40
    assert np.isfinite(factor.solve(R, np.zeros(2))).all()
    assert np.abs(factor.solve(R, np.zeros(2))).max() > 0


def test_nystrom_of_full_rank_is_the_inverse() -> None:
    _, Y, K = problem(ntk(3), n=60)
    whole = Nystrom.of(Stored(K), 60, np.random.default_rng(0))
    least = whole.eigenvalues[-1]
    expected = (least + 0.3) * direct(K, Y, 0.3)
    assert np.allclose(whole.solve(Y, np.full(3, 0.3)), expected, rtol=1e-8)


def test_nystrom_lowers_the_condition_number() -> None:
    """To about (λ_{r+1} + λ)/λ of K, and P⁻¹ is symmetric and positive."""
    _, _, K = problem(ntk(3))
    nystrom = Nystrom.of(Stored(K), 100, np.random.default_rng(0))
    inverse = nystrom.solve(np.eye(400), np.full(400, 0.01))
    assert np.allclose(inverse, inverse.T, atol=1e-12)
    ratios = np.abs(scipy.linalg.eigvals((K + 0.01 * np.eye(400)) @ inverse))
    eigenvalues = np.linalg.eigvalsh(K)[::-1]
    assert ratios.max() / ratios.min() < 6 * (eigenvalues[100] + 0.01) / (eigenvalues[-1] + 0.01)
    assert ratios.max() / ratios.min() < 0.05 * (eigenvalues[0] + 0.01) / (eigenvalues[-1] + 0.01)


@pytest.mark.parametrize("kernel", [ntk(3), laplace(1.0)], ids=repr)
def test_contradicting_labels_without_a_ridge_are_averaged(kernel: Kernel) -> None:
    """The limit λ → 0+: an input that occurs twice predicts the mean of its labels, all others their own."""
    X, Y, _ = problem(kernel, n=300)
    X, Y = np.concatenate([X, X[:50]]), np.concatenate([Y, Y[:50] + 1.0])
    K = kernel.gram(X)
    found = solve_path(K, Y, [0.0, 1.0])
    expected = Y.copy()
    expected[:50] = expected[300:] = (Y[:50] + Y[300:]) / 2
    assert np.abs(K @ found.coefficients[0] - expected).max() < 1e-5
    true = np.linalg.norm(Y - expected, axis=0) / np.linalg.norm(Y, axis=0)
    assert found.residuals[0] == pytest.approx(true.max(), rel=1e-4)
    assert "ridge 0: the Gram matrix is singular" in found.note
    assert found.residuals[1] < 1e-10


def test_zero_vectors_without_a_ridge_predict_zero_and_harm_no_other() -> None:
    X, Y, _ = problem(ntk(3), n=400)
    X[5:7] = 0.0  # K has two rows of zeros, and no function of this kernel is anything but 0 there
    K = ntk(3).gram(X)
    found = solve_path(K, Y, [0.0])
    others = np.delete(np.arange(400), [5, 6])
    fitted = K @ found.coefficients[0]
    assert np.abs(fitted[others] - Y[others]).max() < 1e-4
    assert np.all(fitted[5:7] == 0.0)
    assert "singular" in found.note


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_labels_of_any_size(size: float) -> None:
    _, Y, K = problem(ntk(3), n=100)
    found, plain = (solve_path(K, scale * Y, [0.1]) for scale in (size, 1.0))
    assert found.residuals[0] == pytest.approx(plain.residuals[0], rel=0.5)
    assert np.allclose(found.coefficients / size, plain.coefficients, rtol=1e-9)


def test_kernels_of_any_size() -> None:
    """Also where a factor in float32 is needed, whose range ends at 3e38."""
    _, Y, K = problem(laplace(1.0), n=300, d=3)
    for size in (1e60, 1e-60):
        found = solve_path(size * K, Y, [size * 1e-6], rank=20)
        assert "Cholesky in float32" in found.method
        assert found.residuals[0] < 1e-9


def test_a_zero_output_and_a_zero_matrix() -> None:
    _, Y, K = problem(ntk(3), n=80)
    Y[:, 1] = 0.0
    found = solve_path(K, Y, [0.5])
    assert np.all(found.coefficients[0, :, 1] == 0.0)
    assert found.residuals[0] < 1e-10
    nothing = solve_path(np.zeros((80, 80)), Y, [0.5])
    assert np.allclose(nothing.coefficients[0], Y / 0.5, rtol=1e-12)


def test_going_on_from_saved_arrays_changes_no_bit() -> None:
    _, Y, K = problem(nngp(3))
    system = conjugate.System(Stored(K.astype(np.float32)), Y, np.array([1e-2, 1e-3, 1e-4]), 1e-7, 500)
    nystrom = Nystrom.of(system.operator, 50, np.random.default_rng(0))
    whole, pieces = (conjugate.begin(system, nystrom) for _ in range(2))
    while not whole.finished:
        conjugate.advance(whole, system, nystrom)
    while not pieces.finished:
        conjugate.advance(pieces, system, nystrom)
        pieces = conjugate.State(**{name: array.copy() for name, array in pieces.arrays().items()})
    assert whole.iterations.max() > 20
    assert whole.alpha.tobytes() == pieces.alpha.tobytes()
    assert whole.residual.tobytes() == pieces.residual.tobytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"K": np.ones((3, 4))}, "must be a square matrix"),
        ({"K": np.full((9, 9), np.nan)}, "row 0 of K is not finite"),
        ({"K": np.triu(np.ones((9, 9)))}, "K differs from its transpose"),
        ({"K": np.eye(9) * 1j}, "must be real numbers"),
        ({"Y": np.ones(9) * 1j}, "Y has dtype complex128"),
        ({"tolerance": 0.0}, "tolerance = 0.0: must be greater than 0 and less than 1"),
        ({"tolerance": np.nan}, "tolerance = nan"),
    ],
)
def test_bad_matrices(change: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        solve_path(**({"K": np.eye(9), "Y": np.ones(9), "ridges": [1.0]} | change))


@pytest.mark.parametrize("kind", ["i8", ">f8", "longdouble"])
def test_other_types_are_float64(kind: str) -> None:
    K = (1000 * problem(ntk(3), n=60)[2]).astype(kind)
    Y = np.random.default_rng(0).standard_normal(60)
    found = solve_path(K, Y, [100.0])
    assert np.allclose(found.coefficients[0, :, 0], direct(K.astype(np.float64), Y, 100.0), rtol=1e-8)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"y": np.ones(399)}, r"y has shape \(399,\): must be \(400,\)"),
        ({"y": np.full(400, np.nan)}, r"y\[0\] = nan: must be finite"),
        ({"ridges": [-1.0]}, r"ridges\[0\] = -1.0: must be 0 or more"),
        ({"X": np.full((400, 3), np.inf)}, "row 0 of the inputs is not finite"),
        ({"X": np.ones((0, 3)), "y": np.ones(0)}, "X has no rows"),
    ],
)
def test_bad_input(change: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {"X": sphere(400, 5), "y": np.ones(400), "ridges": [1.0]}
    with pytest.raises(BadInput, match=says):
        ridge_path(ntk(2), **(good | change))
    path = ridge_path(ntk(2), **good)
    with pytest.raises(BadInput, match="X has 4 columns: must have 5"):
        path.predict(np.ones((2, 4)))
