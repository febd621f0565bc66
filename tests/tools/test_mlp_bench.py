"""The contestant of tools/bench/mlp.py makes the steps that the others are given: plain NumPy gives the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "contestants")]

import mlp as bench  # noqa: E402
import mlp_net  # noqa: E402
import mlp_simlab  # noqa: E402
from harness import Contestant, Problem, compare  # noqa: E402

from simlab.core import catalogue  # noqa: E402

LOSSES = [loss for loss in bench.OUTPUTS if loss == "squared" or loss in catalogue.names("losses")]


def slope(loss: str, f: np.ndarray, y: np.ndarray) -> np.ndarray:
    """∂ℓ/∂f"""
    if loss == "logistic":
        return -y / (1.0 + np.exp(y * f))
    if loss == "softmax":
        p = np.exp(f)
        return p / p.sum(axis=1, keepdims=True) - y
    return f - y


def numpy_descent(p: dict[str, Any], given: bench.Arrays) -> list[np.ndarray]:
    """W¹ … W⁴ in float64 after the steps that are compared, the gradient by hand and the factors layer by layer."""
    y, start = mlp_net.start(p, given)
    X, theta = given["X"].astype(np.float64), [W.astype(np.float64) for W in start]
    factors = [(2 / W.shape[1]) ** 0.5 for W in theta]
    for done in range(p["compared"]):
        rows = given["batches"][done] if "batches" in given else slice(None)
        inner, active = [factors[0] * X[rows]], []
        for W, factor in zip(theta[:-1], factors[1:], strict=True):
            Z = inner[-1] @ W.T
            active.append(Z > 0)
            inner.append(factor * np.maximum(Z, 0.0))
        D = slope(p["loss"], inner[-1] @ theta[-1].T, y[rows].astype(np.float64)) / len(inner[0])
        gradient = [D.T @ inner[-1]]
        for layer in (2, 1, 0):
            D = factors[layer + 1] * (D @ theta[layer + 1]) * active[layer]
            gradient.insert(0, D.T @ inner[layer])
        theta = [W - p["step"] * G for W, G in zip(theta, gradient, strict=True)]
    return theta


def tiny(loss: str, outputs: int | None = None, **options: Any) -> tuple[Problem, dict[str, Any], bench.Arrays]:
    problem = bench.descent("small", losses=(loss,), size=(70, 5, 12), steps=7, **options)
    p = {**problem.parameters, "threads": 1, "loss": loss, "outputs": outputs or bench.OUTPUTS[loss]}
    return problem, p, problem.inputs(np.random.default_rng(0))


def disagreements(problem: Problem, found: bench.Arrays, right: bench.Arrays) -> list[str]:
    simlab = next(contestant for contestant in problem.contestants if contestant.name.startswith("simlab"))
    return [row["answer"] for row in compare(problem, simlab, found, right) if not row["agrees"]]


@pytest.mark.parametrize("sgd", [False, True])
@pytest.mark.parametrize(("loss", "outputs"), [*((loss, bench.OUTPUTS[loss]) for loss in LOSSES), ("squared", 10)])
def test_descent_is_the_numpy_loop(loss: str, outputs: int, sgd: bool) -> None:
    """Over several epochs of two batches, and again: a second run gives the same."""
    _, p, inputs = tiny(loss, outputs, sgd=sgd)
    task = mlp_simlab.MLPDescent(p, inputs)
    first, found = task.answer(task.run()), task.answer(task.run())
    W = numpy_descent(p, inputs)
    right = mlp_net.answers(W, W, mlp_net.start(p, inputs)[1], inputs["X"])
    assert found.keys() == right.keys() == {"f", "W1", "W2", "W3", "W4", "moved"}
    for name, array in right.items():
        assert np.array_equal(first[name], found[name])
        np.testing.assert_allclose(found[name], array, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sgd", [False, True])
def test_float32_agrees_and_a_mistake_does_not(sgd: bool) -> None:
    problem, p, inputs = tiny("squared", sgd=sgd, dtype="float32")
    task = mlp_simlab.MLPDescent(p, inputs)
    found = task.answer(task.run())
    start = mlp_net.start(p, inputs)[1]

    def numpy(changed: bench.Arrays = inputs, **change: Any) -> bench.Arrays:
        W = numpy_descent({**p, **change}, changed)
        return {**mlp_net.answers(W, W, start, inputs["X"]), "moved": found["moved"]}

    assert found["W1"].dtype == np.float64
    assert disagreements(problem, found, numpy()) == []
    mistakes = {"a step less": numpy(compared=2), "another step": numpy(step=0.099), "a loss": numpy(loss="logistic")}
    if sgd:
        batches = inputs["batches"].copy()
        batches[0, 0] = batches[0, 1]
        mistakes["one wrong row"] = numpy({**inputs, "batches": batches})
    for mistake, wrong in mistakes.items():
        assert "f" in disagreements(problem, wrong, found), mistake


def test_the_table_holds_every_loss_to_the_peers_and_to_the_squared_one() -> None:
    assert len(bench.every()) == 12
    problem = bench.descent("large", sgd=True)
    assert problem.parameters["n"] == 1984
    names = {contestant.name for contestant in problem.contestants}
    assert all({target.of, target.over} <= names for target in problem.targets)
    bounds = {target.name: target.at_least or target.at_most for target in problem.targets}
    for tail in ("", ", logistic", ", softmax"):
        assert bounds[f"jax over simlab{tail}"] == 1.2
        assert bounds[f"torch over simlab{tail}"] == 2
    assert bounds["logistic over squared"] == bounds["softmax over squared"] == 1.15
    by_name: dict[str, Contestant] = {contestant.name: contestant for contestant in problem.contestants}
    assert by_name["simlab, softmax"].parameters["outputs"] == by_name["simlab, 10 outputs"].parameters["outputs"]
