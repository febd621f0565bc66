"""The contestant of tools/bench/resnet.py visits the batches that the others are given: plain NumPy over these gives
the same weights."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "contestants")]

import resnet as bench  # noqa: E402
import resnet_simlab  # noqa: E402


def numpy_sgd(parameters: dict[str, float], given: bench.Arrays) -> list[np.ndarray]:
    """W, b₁, V, b₂ in float64, the gradient by hand."""
    X, y, A = (given[name].astype(np.float64) for name in ("X", "y", "A"))
    theta = [given[name].astype(np.float64) for name in ("W", "b1", "V", "b2")]
    velocity = [np.zeros_like(t) for t in theta]
    for rows in given["batches"]:
        W, b1, V, b2 = theta
        x, Z1 = X[rows], X[rows] @ W.T + b1
        S = np.maximum(Z1, 0.0) @ A.T
        Z2 = S @ V.T + b2
        r = (S + np.maximum(Z2, 0.0) @ A.T - y[rows]) / len(rows)
        G2 = (r @ A) * (Z2 > 0)
        G1 = ((r + G2 @ V) @ A) * (Z1 > 0)
        for t, v, g in zip(theta, velocity, (G1.T @ x, G1.sum(0), G2.T @ S, G2.sum(0)), strict=True):
            v *= parameters["momentum"]
            v -= parameters["step"] * (g + parameters["weight_decay"] * t)
            t += v
    return theta


def test_epochs_are_the_numpy_loop() -> None:
    """In float64 to rounding, over three epochs, and again: a second run gives the same. Not so for another order."""
    problem = bench.sgd(6, n=40, d=16, batch=8, epochs=3)  # no more than are compared
    inputs = problem.inputs(np.random.default_rng(0))
    assert sorted(inputs["batches"][:5].ravel()) == sorted(inputs["batches"][10:].ravel()) == list(range(40))
    task = resnet_simlab.prepare({**problem.parameters, "threads": 1, "dtype": "float64"}, inputs)
    first, found = task.answer(task.run()), task.answer(task.run())
    expected = numpy_sgd(dict(problem.parameters), inputs)
    another = numpy_sgd(dict(problem.parameters), {**inputs, "batches": inputs["batches"][::-1]})
    for name, right, wrong in zip(("W", "b1", "V", "b2"), expected, another, strict=True):
        assert np.array_equal(first[name], found[name])
        np.testing.assert_allclose(found[name], right, rtol=1e-9, atol=1e-12)
        assert np.max(np.abs(wrong - right)) > problem.tolerance * np.max(np.abs(right))
    way = sum(np.sum((t - inputs[name]) ** 2) for name, t in zip(("W", "b1", "V", "b2"), expected, strict=True))
    assert found["moved"] == pytest.approx(way**0.5, rel=1e-9)


def test_float32_is_within_the_tolerance() -> None:
    """The weights are those of the first five epochs of seven."""
    problem = bench.sgd(20, n=100, d=16, batch=50, epochs=7)
    inputs = problem.inputs(np.random.default_rng(1))
    task = resnet_simlab.prepare({**problem.parameters, "threads": 1}, inputs)
    found = task.answer(task.run())
    early = numpy_sgd(dict(problem.parameters), {**inputs, "batches": inputs["batches"][:10]})
    for name, right in zip(("W", "b1", "V", "b2"), early, strict=True):
        assert found[name].dtype == np.float32
        assert np.max(np.abs(found[name] - right)) < 0.1 * problem.tolerance * np.max(np.abs(right))
