"""The contestants of tools/bench/machines.py give the same answers, here in one process and small."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "contestants")]

import machines as bench  # noqa: E402
import machines_scikit_learn  # noqa: E402
import machines_simlab  # noqa: E402
from harness import compare  # noqa: E402

from simlab.kernels import ntk  # noqa: E402


@pytest.fixture(scope="module")
def race() -> tuple[Any, Any, Any]:
    problem = bench.path(120, 20)
    inputs = problem.inputs(np.random.default_rng(0))
    parameters = {**problem.parameters, "threads": 1}
    tasks = [prepare(parameters, inputs) for prepare in (machines_simlab.Path, machines_scikit_learn.prepare)]
    return problem, *(task.answer(task.run()) for task in tasks)


def test_the_gram_matrix_written_out_is_the_kernel() -> None:
    X = np.random.default_rng(1).standard_normal((300, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(
        machines_scikit_learn.ntk(3, X[:290], X[290:]), ntk(3).gram(X[:290], X[290:]), rtol=1e-13
    )


def test_predictions_agree_at_every_ridge_and_a_wrong_one_is_noticed(race: tuple[Any, Any, Any]) -> None:
    problem, ours, theirs = race
    simlab = problem.contestants[1]
    rows = compare(problem, simlab, ours, theirs)
    assert len(rows) == 10
    assert all(row["agrees"] for row in rows)
    assert all(np.abs(values).max() > 1e-3 for values in theirs.values())
    name = "predictions, ridge 1e-03"
    wrong = {**ours, name: ours[name] * (1.0 + 1e-7)}
    assert [row["answer"] for row in compare(problem, simlab, wrong, theirs) if not row["agrees"]] == [name]
