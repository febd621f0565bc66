"""The dense solver: against SciPy, the pseudo-inverse and what it must refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from simlab.core.errors import BadInput
from simlab.kernels import gaussian, ntk
from simlab.machines import dense

X = np.random.default_rng(5).standard_normal((60, 4))
Y = np.random.default_rng(6).standard_normal((60, 3))


@pytest.mark.parametrize("ridge", [0.0, 1e-6, 1.0])
@pytest.mark.parametrize("labels", [Y, Y[:, 0]], ids=["three outputs", "one"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_is_the_solution(ridge: float, labels: Any, overwrite: bool) -> None:
    K = ntk(3).gram(X)
    exact = np.linalg.solve(K + ridge * np.eye(60), labels)
    found = dense.solve(K.copy(), labels, ridge, overwrite=overwrite)
    (by_path,) = dense.path(K, labels, [ridge])
    for answer in (found, by_path):
        assert answer.coefficients.shape == labels.shape
        np.testing.assert_allclose(answer.coefficients, exact, rtol=1e-9, atol=1e-10 * np.abs(exact).max())
        assert answer.note == ""
        true = np.linalg.norm(labels - (K + ridge * np.eye(60)) @ answer.coefficients) / np.linalg.norm(labels)
        assert max(answer.residual, true) < 1e-12
    assert (found.rank, by_path.rank) == (None, 60)


def test_overwrites_only_when_told() -> None:
    K = ntk(2).gram(X)
    before = K.copy()
    dense.solve(K, Y, 0.1)
    assert np.array_equal(K, before)
    K.flags.writeable = False
    assert dense.solve(K, Y, 0.1, overwrite=True).residual < 1e-12
    assert np.array_equal(K, before)


@pytest.mark.parametrize("size", [40, 600])  # 600: two blocks of the mirror that puts K back
def test_a_singular_gram_has_the_least_norm_answer(size: int) -> None:
    """Rank r by construction: K⁺ from the factor, K = BBᵀ, K⁺ = (B⁺)ᵀB⁺."""
    rank = size // 2
    B = np.random.default_rng(1).standard_normal((size, rank))
    B[0] *= 5.0  # of another norm: the solver scales, and scales back
    K = B @ B.T
    labels = np.random.default_rng(2).standard_normal(size)
    inverse = scipy.linalg.pinv(B)
    exact = inverse.T @ (inverse @ labels)
    found = dense.solve(K, labels, 0.0, overwrite=True)
    assert np.array_equal(K, B @ B.T)
    np.testing.assert_allclose(found.coefficients, exact, atol=1e-9 * np.abs(exact).max())
    assert found.rank == rank
    assert f"rank {rank} of {size}" in found.note
    projected = labels - K @ exact
    assert found.residual == pytest.approx(np.linalg.norm(projected) / np.linalg.norm(labels), rel=1e-9)


def test_duplicates_predict_the_mean_of_their_labels() -> None:
    K = ntk(2).gram(np.vstack([X[:5], X[:5], X[:1]]))
    labels = np.arange(11.0)
    found = dense.solve(K, labels, 0.0)
    means = np.array([(0 + 5 + 10) / 3, 3.5, 4.5, 5.5, 6.5])
    np.testing.assert_allclose(K @ found.coefficients, [*means, *means, means[0]], rtol=1e-12)
    assert found.rank == 5


def test_cholesky_that_passes_by_luck_is_noticed() -> None:
    """A Gram of condition 1e20: LAPACK's factorisation may succeed, with pivots that are noise."""
    found = dense.solve(gaussian(1e-3).gram(X), Y[:, 0], 0.0)
    assert "numerically singular" in found.note
    assert np.abs(found.coefficients).max() < 1e15
    for ridge in (1e-300, 1e-17, 1e-12, 1e-3):
        assert np.isfinite(dense.solve(gaussian(1e-3).gram(X), Y, ridge).coefficients).all()


def test_norms_of_all_sizes_are_not_singular() -> None:
    """K(x, y) = ‖x‖‖y‖κ(u): scaled inputs have scaled coefficients, to the last digits, at norms 1e-9 to 1e9."""
    scales = np.logspace(-9, 9, 60)
    K = ntk(3).gram(X)
    found = dense.solve(K * np.outer(scales, scales), Y, 0.0, overwrite=True)
    exact = np.linalg.solve(K, Y / scales[:, np.newaxis]) / scales[:, np.newaxis]
    assert (found.note, found.rank) == ("", None)
    np.testing.assert_allclose(found.coefficients, exact, rtol=1e-7)
    factor, _ = dense.factored(np.diag(scales), Y, 0.0)
    assert factor.log_determinant() == pytest.approx(np.log(scales).sum(), abs=1e-10)
    np.testing.assert_allclose(factor.whiten(Y), Y / np.sqrt(scales)[:, np.newaxis], rtol=1e-14)


def test_zero_labels_and_the_zero_kernel() -> None:
    assert dense.solve(np.eye(2), [0.0, 0.0], 0.0).residual == 0.0
    found = dense.solve(np.zeros((2, 2)), [1.0, 2.0], 0.0)
    assert (found.coefficients.tolist(), found.rank, found.residual) == ([0.0, 0.0], 0, 1.0)
    assert dense.solve(np.diag([1e-320, 1.0]), [1.0, 2.0], 0.0).coefficients.tolist() == [0.0, 2.0]
    assert dense.solve(np.zeros((2, 2)), [1.0, 2.0], 0.5).coefficients.tolist() == [2.0, 4.0]


K = np.eye(2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((K, [1.0, 2.0], -1.0), "ridge = -1.0: must be 0 or more"),
        ((K, [1.0, 2.0], float("nan")), "ridge = nan: must be finite"),
        ((K, [1.0, 2.0], float("inf")), "ridge = inf: must be finite"),
        ((K, [1.0, 2.0], True), "ridge = True: must be a number"),
        ((K, [1.0, 2.0], "0"), "ridge = '0': must be a number"),
        ((K, [1.0, np.nan], 0.0), "Y[1] = nan: must be finite"),
        ((np.diag([1.0, np.inf]), [1.0, 2.0], 0.0), "K[1, 1] = inf: must be finite"),
        ((K, [1.0, 2.0, 3.0], 0.0), "Y has shape (3,): must be (2,) or (2, outputs)"),
        ((K[:1], [1.0], 0.0), "K has shape (1, 2): must be square"),
        ((np.empty((0, 0)), [], 0.0), "K has shape (0, 0): must be square and not empty"),
        ((K * 1j, [1.0, 2.0], 0.0), "K has dtype complex128: must be real numbers"),
        ((np.array([[1.0, 2.0], [0.0, 1.0]]), [1.0, 2.0], 0.0), "K differs from its transpose by 2"),
        ((-K, [1.0, 2.0], 0.0), "K has the eigenvalue -1: must be positive semi-definite"),
        ((np.zeros((2, 2)), [1.0, 1e10], 1e-300), "coefficients overflow"),
    ],
)
def test_refuses_in_one_line(arguments: Any, message: str) -> None:
    with pytest.raises(BadInput) as error:
        dense.solve(*arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
