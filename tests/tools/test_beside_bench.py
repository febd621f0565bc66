"""tools/bench/beside.py: the other process is busy on one core, and gone afterwards; the same steps in every row."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path[:0] = [str(BENCH)]

import beside  # noqa: E402
import busy  # noqa: E402
import harness  # noqa: E402
import steps  # noqa: E402

TINY = steps.Case({"kind": "mlp", "width": 6, "depth": 4, "weight_std": 1.5}, 40, 3, 5, 5)


@pytest.mark.skipif(sys.platform != "linux", reason="pins")
def test_a_busy_core_is_pinned_computes_and_ends() -> None:
    core = sorted(os.sched_getaffinity(0))[-1]
    with busy.busy_core([core], 60.0) as pid:
        process = psutil.Process(pid)
        assert process.cpu_affinity() == [core]
        before = process.cpu_times().user
        deadline = time.monotonic() + 20.0
        while process.cpu_times().user < before + 0.1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert not psutil.pid_exists(pid)


def test_it_is_gone_after_an_error_too() -> None:
    with pytest.raises(ValueError, match="mine"), busy.busy_core([], 60.0) as pid:
        raise ValueError("mine")
    assert not psutil.pid_exists(pid)


def test_it_ends_by_itself() -> None:
    run = subprocess.run([sys.executable, "-c", busy.LOOP, "-1", "0.1"], capture_output=True, timeout=30, check=False)
    assert (run.returncode, run.stdout) == (0, b"busy\n")


def test_it_ends_with_a_harness_that_was_killed() -> None:
    harness_of_it = "import busy, os, time\nwith busy.busy_core([], 60.0) as pid: print(pid, flush=True); os._exit(9)"
    run = subprocess.run([sys.executable, "-c", harness_of_it], cwd=BENCH, stdout=subprocess.PIPE, check=False)
    deadline = time.monotonic() + 20.0
    while psutil.pid_exists(pid := int(run.stdout)) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_one_that_does_not_start_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended with code 1"), busy.busy_core([10**6], 60.0):
        pass


def test_every_row_makes_the_same_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier checkout that is this one: all rows agree, and work goes on beside the rows that say so."""
    beside_work = []
    real = harness.busy_core
    monkeypatch.setattr(harness, "busy_core", lambda *given: beside_work.append(given) or real(*given))
    problem = beside.beside("tiny", TINY, BENCH.parents[1])
    found = harness.measure(problem, rounds=1, threads=1)
    assert [(entry["name"], entry["status"]) for entry in found["contestants"]] == [
        (name, "ok")
        for name in ("1 thread", "2 threads", "1 thread, beside work", "2 threads, beside work", "2 threads, before")
    ]
    assert len(beside_work) == 2
    assert [row["wanted"] for row in found["targets"]] == ["≤ 1.3x", "≤ 1.3x", "≤ 1.05x"]
    assert all(row["measured"] is not None for row in found["targets"])


def test_another_directory_than_a_checkout_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH / "beside.py"), "--before", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 2
    assert "no checkout of simlab there" in run.stderr


@pytest.mark.parametrize("name", steps.CASES)
def test_cases_are_networks_of_simlab(name: str) -> None:
    from simlab import networks

    case = steps.CASES[name]
    fields = dict(case.network)
    network = networks.get(fields.pop("kind"), **fields)
    assert network.output_count() == case.outputs
    assert {contestant.name for contestant in steps.problem(name, case, sgd=True).contestants} == {"simlab"}
