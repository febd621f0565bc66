"""tools/bench/before.py calls a row slower only where it is, beyond the machine's noise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path[:0] = [str(BENCH)]

import before  # noqa: E402
from harness import Problem, compare  # noqa: E402


def found(now: list[float], first: list[float], again: list[float], status: str = "ok") -> dict[str, Any]:
    seconds = {"now": now, "before": first, "before again": again}
    entries = [{"name": n, "status": "ok", "message": "", "seconds": s} for n, s in seconds.items()]
    entries[0]["status"] = status
    return {"problem": "p", "contestants": entries}


@pytest.mark.parametrize(
    ("now", "again", "says"),
    [
        ([1.0, 1.02, 0.98], [1.0, 1.0, 1.0], "ok"),
        ([1.2, 1.2, 1.2], [1.0, 1.0, 1.0], "SLOWER"),
        ([1.2, 1.2, 1.2], [1.15, 1.15, 1.15], "ok"),
        ([0.5, 0.5, 0.5], [1.0, 1.0, 1.0], "ok"),
    ],
)
def test_slower_is_beyond_the_noise(now: list[float], again: list[float], says: str) -> None:
    assert before.verdict(found(now, [1.0, 1.0, 1.0], again))["verdict"] == says


def test_answers_that_differ_are_no_timing() -> None:
    assert "DISAGREES" in before.verdict(found([1.0], [1.0], [1.0], "DISAGREES"))["verdict"]


def rows_of(benchmark: str, earlier: Path = Path("/earlier")) -> list[Problem]:
    return [row for compared in before.BENCHMARKS[benchmark]() for row in before.rows_of(compared, earlier)]


def test_every_row_of_simlabs_is_there_and_no_peer() -> None:
    rows = rows_of("networks")
    assert len(rows) == 6
    assert {c.name for row in rows for c in row.contestants} == {"before", "now", "before again"}
    assert all(c.peer is None for row in rows for c in row.contestants)


@pytest.mark.parametrize(("benchmark", "count"), [("three_layer", 4), ("resnet", 4), ("mlp", 12)])
def test_networks_are_stepped_full_batch_and_in_batches(benchmark: str, count: int) -> None:
    rows = rows_of(benchmark)
    assert len({row.name for row in rows}) == len(rows) == count
    assert sum(row.parameters["batch"] is None for row in rows) == count // 2


@pytest.mark.parametrize(("benchmark", "allowed"), [("resnet", 0.0), ("mlp", 1e-8)])
def test_bits_are_asked_for_where_they_should_be_equal(benchmark: str, allowed: float) -> None:
    row = rows_of(benchmark)[0]
    now = next(contestant for contestant in row.contestants if contestant.name == "now")
    f = np.array([1.0, 2.0])
    for change in (0.0, 1e-15, 0.5e-8, 1.5e-8):
        (found,) = compare(row, now, {"f": f * (1 + change)}, {"f": f})
        assert found["agrees"] is (change <= allowed), change


def test_before_is_the_simlab_of_the_other_checkout(tmp_path: Path) -> None:
    """In this interpreter, by our script where it has none; in its own, by its own, where it has them."""
    bare = rows_of("mlp", tmp_path)[0].contestants[0]
    assert (bare.checkout, bare.python, bare.script.parent) == (tmp_path, None, BENCH / "contestants")
    own = tmp_path / ".venv/bin/python", tmp_path / "tools/bench/contestants/steps_simlab.py"
    for path in own:
        path.parent.mkdir(parents=True)
        path.touch()
    first, now, again = rows_of("mlp", tmp_path)[0].contestants
    assert (first.python, first.script) == (again.python, again.script) == own
    assert now.checkout is None
