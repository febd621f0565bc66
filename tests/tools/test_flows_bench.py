"""The contestant of tools/bench/flows.py takes every sample once, in order: plain NumPy gives the same weights."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "contestants")]

import flows as bench  # noqa: E402
import flows_simlab  # noqa: E402


@pytest.mark.parametrize("batch", [1, 32])
def test_one_pass_is_the_numpy_loop(batch: int) -> None:
    """Over the end of a chunk, and again: a second run gives the same."""
    problem = bench.one_pass(batch, d=3, m=4, steps=2 * 4096 // batch)
    inputs = problem.inputs(np.random.default_rng(0))
    task = flows_simlab.OnePass({**problem.parameters, "threads": 1}, inputs)
    first, found = task.answer(task.run()), task.answer(task.run())
    a, W, eta, s = inputs["a"].copy(), inputs["W"].copy(), problem.parameters["step"], 0.5
    for i in range(0, len(inputs["X"]), batch):
        X, y = inputs["X"][i : i + batch], inputs["y"][i : i + batch]
        H = np.maximum(X @ W.T, 0.0)
        r = s * (s * H @ a - y) / batch
        a, W = a - eta * H.T @ r, W - eta * ((H > 0) * np.outer(r, a)).T @ X
    for name, expected in (("a", a), ("W", W)):
        assert np.array_equal(first[name], found[name])
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-12)
