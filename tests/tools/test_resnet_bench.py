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
    problem = bench.sgd(6, n=40, d=16, batch=8, epochs=3)
    inputs = problem.inputs(np.random.default_rng(0))
    assert sorted(inputs["batches"][:5].ravel()) == sorted(inputs["batches"][10:].ravel()) == list(range(40))
    every = {"compared": len(inputs["batches"]), "threads": 1, "dtype": "float64"}
    task = resnet_simlab.Epochs({**problem.parameters, **every}, inputs)
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
    """The weights are those of the first five steps of 14."""
    problem = bench.sgd(20, n=100, d=16, batch=50, epochs=7)
    inputs = problem.inputs(np.random.default_rng(1))
    task = resnet_simlab.Epochs({**problem.parameters, "threads": 1}, inputs)
    found = task.answer(task.run())
    early = numpy_sgd(dict(problem.parameters), {**inputs, "batches": inputs["batches"][: bench.COMPARED_STEPS]})
    for name, right in zip(("W", "b1", "V", "b2"), early, strict=True):
        assert found[name].dtype == np.float32
        assert np.max(np.abs(found[name] - right)) < 0.1 * problem.tolerance * np.max(np.abs(right))


def differences(wrong: list[np.ndarray], right: list[np.ndarray]) -> list[float]:
    return [bench.by_neuron(a, b)[""] for a, b in zip(wrong, right, strict=True)]


def test_a_neuron_at_a_kink_agrees_and_a_mistake_does_not() -> None:
    """At the benchmark's own size: one neuron's gradient of one step of the other sign, beside real mistakes."""
    problem = bench.sgd(200)
    inputs = problem.inputs(np.random.default_rng(0))
    parameters = dict(problem.parameters)
    batches = inputs["batches"][: bench.COMPARED_STEPS]

    def descended(batches: np.ndarray = batches, **change: float) -> list[np.ndarray]:
        return numpy_sgd({**parameters, **change}, {**inputs, "batches": batches})

    right = descended()
    kinked = [t.copy() for t in right]
    for t in kinked:
        t[7] += 5e-3 * np.max(np.abs(t))
    assert max(differences(kinked, right)) == 0.0
    assert max(differences([t + 3e-5 * np.max(np.abs(t)) for t in kinked], right)) < problem.tolerance
    one_row = batches.copy()
    one_row[0, 0] = one_row[0, 1]
    mistakes = {
        "no weight decay": descended(weight_decay=0.0),
        "another momentum": descended(momentum=0.89),
        "another step": descended(step=0.099),
        "two batches exchanged": descended(batches[[1, 0, 2, 3, 4]]),
        "one wrong row": descended(one_row),
        "a step less": descended(batches[:-1]),
    }
    for mistake, weights in mistakes.items():
        assert max(differences(weights, right)) > problem.tolerance, mistake
    assert not max(differences([*right[:3], np.full_like(right[3], np.nan)], right)[3:]) <= problem.tolerance
