"""The ridge that validation data choose, against a plain search; also with a kernel of several outputs."""

from __future__ import annotations

import numpy as np
import pytest

from simlab import networks
from simlab.kernels import ntk
from simlab.machines import choose_ridge
from simlab.machines.ridge_choice import mean_square, solve_each

RIDGES = (1e-6, 1e-3, 0.1, 3.0)


def test_the_ridge_of_the_least_validation_error() -> None:
    """Labels with much noise: neither the smallest nor the largest ridge is best."""
    rng = np.random.default_rng(0)
    X, V = rng.standard_normal((60, 3)), rng.standard_normal((400, 3))
    y, held_out = (np.column_stack([Z[:, 0], np.abs(Z[:, 1])]) for Z in (X, V))
    y += 0.5 * rng.standard_normal(y.shape)
    K, across = ntk(2).gram(X), ntk(2).gram(V, X)
    unit = float(np.trace(K)) / len(K)
    choice = choose_ridge(K, y, across, held_out, RIDGES, unit)
    expected = [
        np.mean(np.sum((across @ np.linalg.solve(K + ridge * unit * np.eye(60), y) - held_out) ** 2, axis=1))
        for ridge in RIDGES
    ]
    np.testing.assert_allclose(choice.scores, expected, rtol=1e-6)
    assert choice.index == int(np.argmin(expected)) in (1, 2)
    assert choice.ridge == RIDGES[choice.index]
    np.testing.assert_allclose(choice.alpha, np.linalg.solve(K + choice.ridge * unit * np.eye(60), y), rtol=1e-6)


def test_of_equal_ones_the_first() -> None:
    K = np.eye(3)
    assert choose_ridge(K, np.zeros((3, 1)), K, np.zeros((3, 1)), RIDGES).index == 0


def test_a_kernel_of_several_outputs() -> None:
    """(n c, n c), row i c + a: where the outputs do not mix it is the kernel of each."""
    rng = np.random.default_rng(1)
    net = networks.TwoLayer(width=30, trained="second")
    theta, X, V = net.initialise(3, rng), rng.standard_normal((20, 3)), rng.standard_normal((7, 3))
    y, held_out = rng.standard_normal((20, 2)), rng.standard_normal((7, 2))
    K, across = net.tangent_gram(theta, X), net.tangent_gram(theta, V, X)
    plain = choose_ridge(K, y, across, held_out, RIDGES)
    blocks = choose_ridge(np.kron(K, np.eye(2)), y, np.kron(across, np.eye(2)), held_out, RIDGES)
    np.testing.assert_allclose(blocks.scores, plain.scores, rtol=1e-6)
    np.testing.assert_allclose(blocks.alpha.reshape(20, 2), plain.alpha, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("eigen_above", [None, 2])
def test_both_ways_to_solve(eigen_above: int | None) -> None:
    X = np.random.default_rng(2).standard_normal((30, 3))
    K, y = ntk(2).gram(X), np.sin(X[:, 0])
    for ridge, alpha in zip(RIDGES, solve_each(K, y, RIDGES, eigen_above), strict=True):
        np.testing.assert_allclose((K + ridge * np.eye(30)) @ alpha, y, atol=1e-10)


def test_mean_square() -> None:
    assert mean_square(np.array([[3.0, 4.0], [0.0, 1.0]])) == 13.0
