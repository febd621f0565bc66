"""tools/bench/before.py calls a row slower only where it is, beyond the machine's noise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path[:0] = [str(BENCH)]

import before  # noqa: E402


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


def test_every_row_of_simlabs_is_there_and_no_peer() -> None:
    rows = [row for problem, _ in before.BENCHMARKS["networks"]() for row in before.rows_of(problem, Path("/earlier"))]
    assert len(rows) == 6
    assert {c.name for row in rows for c in row.contestants} == {"before", "now", "before again"}
    assert all(c.peer is None for row in rows for c in row.contestants)
