"""Thin products, and resnet3 made of them in more than one chunk, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.core.thin import product, whole
from simlab.flows.problem import Problem
from simlab.networks import ResNet3
from simlab.networks._resnet_factored import CHUNK_NEURONS
from simlab.networks.bound import Bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 8), (4, 3, 16), (7, 5, 24), (9, 2, 56)])
def test_thin_products(dtype: type, rows: int, inner: int, columns: int) -> None:
    rng = np.random.default_rng(rows)
    L, R, B, T = (rng.standard_normal(s) for s in [(inner, rows), (inner, columns), (rows, columns), (rows, columns)])
    nothing = np.empty((0, 0))
    for start in (nothing, B[:, :1], B):
        for times in (nothing, T):
            for left in (L.astype(dtype)[:, :].T, np.ascontiguousarray(L.T, dtype)[:, :]):
                C = np.full((rows, columns), np.nan, dtype)
                product(*(M.astype(dtype, order="C") if M is not left else M for M in (start, left, R, times)), C)
                expected = ((start if start.size else 0) + L.T @ R) * (times if times.size else 1)
                np.testing.assert_allclose(C, expected, rtol=0, atol=20 * np.finfo(dtype).eps * inner)


def test_whole_vectors() -> None:
    assert [whole(n) for n in (1, 8, 9, 50)] == [8, 8, 16, 56]


@pytest.mark.parametrize(("outputs", "width"), [(1, 3), (8, CHUNK_NEURONS), (9, 2 * CHUNK_NEURONS + 3)])
@pytest.mark.parametrize("n", [9, 150])
def test_chunks_of_neurons(outputs: int, width: int, n: int) -> None:
    """ReLU, at one tile of rows and at two: f, ∇R, J v and Jᵀ R."""
    net, rng = ResNet3(width=width, outputs=outputs), np.random.default_rng(outputs)
    X, y = rng.standard_normal((n, 8)), rng.standard_normal((n, outputs))
    theta, v = net.initialise(8, rng), rng.standard_normal(net.size(8))
    W, b1, V, b2, A = net.weights(theta, 8)
    Z1 = X @ W.T + b1
    S = np.maximum(Z1, 0.0) @ A.T
    Z2 = S @ V.T + b2
    f = S + np.maximum(Z2, 0.0) @ A.T
    bound = Bound(net, 8)
    np.testing.assert_allclose(bound.value(theta, X), f, rtol=1e-11, atol=1e-12)

    def pulled(R: np.ndarray) -> np.ndarray:
        G2 = (R @ A) * (Z2 > 0)
        G1 = ((R + G2 @ V) @ A) * (Z1 > 0)
        return np.concatenate([g.ravel() for g in (G1.T @ X, G1.sum(axis=0), G2.T @ S, G2.sum(axis=0))])

    trained = bound.trained.stop
    found = np.zeros_like(theta)
    Problem.of(bound, X, y, 1.0).loss_and_gradient(theta, found)
    np.testing.assert_allclose(found[:trained], pulled((f - y) / n), rtol=1e-10, atol=1e-12)
    R = rng.standard_normal((n, outputs))
    np.testing.assert_allclose(bound.pull(theta, R, X)[:trained], pulled(R), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.sum(R * bound.push(theta, v, X)), pulled(R) @ v[:trained], rtol=1e-9)
