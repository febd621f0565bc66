"""Thin products, and resnet3 made of them in more than one chunk, against plain NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.core.thin import plain_product, product, vector_product, whole
from simlab.flows.problem import Problem
from simlab.networks import ResNet3
from simlab.networks._resnet_factored import CHUNK_NEURONS
from simlab.networks.bound import Bound

ROOT = Path(__file__).parents[2]
SHAPES = [(1, 1, 8), (4, 3, 16), (7, 5, 24), (9, 2, 56)]


def check_products(compute: Any, shape: tuple[int, int, int], dtype: Any) -> None:
    """With every kind of `start`, `times` and order of L, against NumPy."""
    rows, inner, columns = shape
    rng = np.random.default_rng(rows)
    L, R, B, T = (rng.standard_normal(s) for s in [(inner, rows), (inner, columns), (rows, columns), (rows, columns)])
    nothing = np.empty((0, 0))
    for start in (nothing, B[:, :1], B):
        for times in (nothing, T):
            for left in (L.astype(dtype)[:, :].T, np.ascontiguousarray(L.T, dtype)[:, :]):
                C = np.full((rows, columns), np.nan, dtype)
                compute(*(M.astype(dtype, order="C") if M is not left else M for M in (start, left, R, times)), C)
                expected = ((start if start.size else 0) + L.T @ R) * (times if times.size else 1)
                np.testing.assert_allclose(C, expected, rtol=0, atol=20 * np.finfo(dtype).eps * inner)


@pytest.mark.parametrize("compute", [vector_product, plain_product], ids=["vectors", "plain"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_thin_products(compute: Any, dtype: Any, shape: tuple[int, int, int]) -> None:
    check_products(compute, shape, dtype)


@given(
    st.tuples(st.integers(1, 13), st.integers(1, 11), st.integers(1, 9).map(lambda vectors: 8 * vectors)),
    st.sampled_from([np.float64, np.float32]),
    st.sampled_from(["nothing", "column", "matrix"]),
    st.booleans(),
    st.integers(0, 99),
)
def test_both_ways_of_a_thin_product_agree(
    shape: tuple[int, int, int], dtype: Any, start: str, scaled: bool, seed: int
) -> None:
    """Rows that are no whole blocks, and any number of vectors."""
    (rows, inner, columns), rng = shape, np.random.default_rng(seed)
    L, R, T = (rng.standard_normal(s).astype(dtype) for s in [(rows, inner), (inner, columns), (rows, columns)])
    B = rng.standard_normal((rows, {"nothing": 0, "column": 1, "matrix": columns}[start])).astype(dtype)
    found = [np.full((rows, columns), np.nan, dtype) for _ in range(2)]
    for compute, C in zip((vector_product, plain_product), found, strict=True):
        compute(B, L[:, :], R, T if scaled else np.empty((rows, 0), dtype), C)
    np.testing.assert_allclose(*found, rtol=0, atol=40 * np.finfo(dtype).eps * inner)


def test_vectors_are_used_where_numba_compiles() -> None:
    assert product is vector_product


def test_plain_loops_are_used_where_numba_does_not_compile() -> None:
    code = (
        "import numpy as np\nfrom simlab.core.thin import plain_product, product\nassert product is plain_product\n"
        "C = np.empty((2, 8))\nproduct(np.ones((2, 1)), np.ones((2, 3)), np.ones((3, 8)), np.full((2, 8), 2.0), C)\n"
        "assert np.array_equal(C, np.full((2, 8), 8.0))\n"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, cwd=ROOT, check=True)


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
