"""The benchmark harness, with toy contestants: what it must refuse, report and keep in order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "tools" / "bench"
sys.path.insert(0, str(BENCH))

import harness  # noqa: E402
from harness import Contestant, Entry, Problem, Target, judge, measure  # noqa: E402
from kernels import gram_difference  # noqa: E402
from report import bad_news, text  # noqa: E402

TOY = """
import os, sys, time
sys.path.insert(0, {contestants!r})
import numpy as np
from serve import serve

class Toy:
    def __init__(self, parameters, inputs):
        self.parameters, self.x = parameters, inputs["x"]

    def run(self):
        print("a library that prints")
        p = self.parameters
        with open(p["diary"], "a") as file:
            file.write(p["me"] + " ")
        if "raise" in p:
            raise ValueError(p["raise"])
        if "exit" in p:
            print("the last words", file=sys.stderr, flush=True)
            os._exit(p["exit"])
        time.sleep(p.get("sleep", 0.0))
        ballast = np.ones(p.get("megabytes", 0) * 2**17)
        return self.x * p.get("factor", 1.0) + 0 * ballast.sum()

    def answer(self, result):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        threads = [int(os.environ["OMP_NUM_THREADS"]), int(os.environ["NUMBA_NUM_THREADS"]), cores]
        return {{"x": result[: self.parameters.get("rows", 9)], "threads": np.array(threads)}}

def prepare(parameters, inputs):
    if "lacks" in parameters:
        raise ModuleNotFoundError(parameters["lacks"])
    return Toy(parameters, inputs)

serve(prepare)
"""

Race = Callable[..., dict[str, Any]]


@pytest.fixture
def race(tmp_path: Path) -> Race:
    """Measure `slow` (the reference, 30 ms) beside a `fast` with these parameters."""
    script = tmp_path / "toy.py"
    script.write_text(TOY.format(contestants=str(harness.CONTESTANTS)))
    diary = tmp_path / "diary"

    def run(rounds: int = 1, peer: str | None = None, tolerances: Any = None, timeout: float = 30, **p: Any) -> Any:
        slow = Contestant("slow", script, parameters={"me": "slow", "sleep": 0.03})
        fast = Contestant("fast", script, peer, {"me": "fast", **p}, against="slow", tolerances=tolerances or {})
        problem = Problem(
            "toy",
            lambda rng: {"x": rng.standard_normal(9)},
            (slow, fast),
            parameters={"diary": str(diary)},
            targets=(Target("fast beats slow", "slow", "fast", at_least=2.0),),
        )
        found = measure(problem, rounds=rounds, threads=1, timeout=timeout)
        found["diary"] = diary.read_text().split()
        return found

    return run


def test_rounds_are_interleaved_and_the_result_is_json(race: Race) -> None:
    found = race(rounds=3)
    assert found["order"] == ["slow", "fast"] * 3
    assert found["diary"] == ["slow", "fast"] * 4  # once for the answers
    slow, fast = json.loads(json.dumps(found, allow_nan=False))["contestants"]
    assert len(slow["seconds"]) == len(fast["seconds"]) == 3
    assert min(slow["seconds"]) >= 0.03
    assert [row["answer"] for row in fast["comparison"]] == ["threads", "x"]
    assert fast["versions"]["numpy"] == np.__version__
    assert set(found) >= {"problem", "parameters", "seed", "rounds", "cores", "load", "targets"}
    assert found["targets"][0]["verdict"] == "ok"
    assert found["targets"][0]["measured"] >= 2
    assert not bad_news(found)
    assert "≥ 2x" in text(found)


@pytest.mark.parametrize("change", [{"factor": 1 + 1e-6}, {"factor": float("nan")}, {"rows": 8}])
def test_different_answers_are_not_timed(race: Race, change: dict[str, Any]) -> None:
    found = race(**change)
    fast = found["contestants"][1]
    assert (fast["status"], fast["seconds"]) == ("DISAGREES", [])
    assert found["order"] == ["slow"]
    assert found["targets"][0]["verdict"] == "not measured"
    assert bad_news(found)
    assert "DISAGREES with slow" in text(found)
    json.dumps(found, allow_nan=False)


def test_a_stated_tolerance_is_the_one_that_counts(race: Race) -> None:
    found = race(factor=1 + 1e-6, tolerances={"x": 1e-5})
    row = found["contestants"][1]["comparison"][1]
    assert row["agrees"]
    assert row["tolerance"] == 1e-5
    assert 1e-7 < row["difference"] <= 1.1e-6


def test_a_missing_peer_is_reported_and_no_error(race: Race, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMLAB_BENCH_PEERS", str(tmp_path))
    for found in (race(peer="nobody"), race(lacks="toy.things is missing")):
        assert found["contestants"][1]["status"] == "missing"
        assert found["order"] == ["slow"]
        assert found["targets"][0]["verdict"] == "not measured"
        assert not bad_news(found)
    assert "toy.things is missing" in text(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"raise": "no such luck"}, "ValueError: no such luck"),
        ({"exit": 3}, "ended with code 3: the last words"),
        ({"sleep": 60, "timeout": 2}, "answer took more than 2 s"),
    ],
)
def test_a_contestant_that_fails_does_not_stop_the_others(
    race: Race, change: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "QUIT_SECONDS", 0.1)
    found = race(**change)
    fast = found["contestants"][1]
    assert (fast["status"], fast["message"]) == ("failed", message)
    assert found["order"] == ["slow"]
    assert bad_news(found)


def test_memory_is_the_rise_over_the_preparation(race: Race) -> None:
    slow, fast = race(megabytes=200)["contestants"]
    assert slow["rise_mb"] < 50
    assert 190 < fast["rise_mb"] < 300
    assert fast["peak_mb"] > fast["rise_mb"]


def test_threads_are_equal(race: Race) -> None:
    """Compared as answers, so here only that one thread means one."""
    rows = race()["contestants"][1]["comparison"]
    assert rows[0]["difference"] == 0
    assert harness.environment(1, False)["XLA_FLAGS"].endswith("false")
    assert harness.environment(2, False)["OPENBLAS_NUM_THREADS"] == "2"


def test_a_peer_does_not_see_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    assert "PYTHONPATH" in harness.environment(1, peer=False)
    assert "PYTHONPATH" not in harness.environment(1, peer=True)


def test_a_contestant_may_have_threads_and_a_simlab_of_its_own(tmp_path: Path) -> None:
    script, elsewhere = tmp_path / "toy.py", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "simlab.py").write_text("found = 7")
    more = "import simlab\nassert simlab.found == 7\n"
    script.write_text(TOY.format(contestants=str(harness.CONTESTANTS)).replace("class Toy", more + "class Toy"))
    given = {"me": "own", "diary": str(tmp_path / "diary")}
    own = Contestant("own", script, parameters=given, checkout=elsewhere, threads=3)
    answered: list[Any] = []

    def difference(ours: Any, theirs: Any) -> dict[str, float]:
        answered.append(ours.tolist())
        return {"": 0.0}

    again = Contestant("again", script, parameters=given, checkout=elsewhere, threads=2, against="own")
    problem = Problem("toy", lambda rng: {"x": np.ones(3)}, (own, again), difference=difference)
    found = measure(problem, rounds=0, threads=1)
    assert [entry["status"] for entry in found["contestants"]] == ["ok", "ok"], found["contestants"]
    assert answered[0][:2] == [2, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_who_waits_is_stopped(race: Race, tmp_path: Path) -> None:
    race()
    process = harness.Process(Contestant("toy", tmp_path / "toy.py"), 1, tmp_path / "log", 30)
    try:
        process.ask("memory")
        # Past the name in brackets: the state, T for stopped; the signal may take a moment.
        stat = Path(f"/proc/{process.popen.pid}/stat")
        os.waitid(os.P_PID, process.popen.pid, os.WSTOPPED | os.WNOWAIT)
        assert stat.read_text().rpartition(")")[2].split()[0] == "T"
    finally:
        process.close()
    assert process.popen.returncode == 0


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (Target("t", "a", "b", at_least=3.9), "ok"),
        (Target("t", "a", "b", at_least=4.1), "MISSED"),
        (Target("t", "a", "b", at_most=4.1), "ok"),
        (Target("t", "a", "b", at_most=3.9), "MISSED"),
        (Target("t", "a", what="rise_mb", at_most=99), "MISSED"),
        (Target("t", "a", what="first_seconds", at_most=99), "not measured"),
        (Target("t", "a", "failed", at_least=1), "not measured"),
        (Target("t", "nobody", at_most=1), "not measured"),
    ],
)
def test_targets(target: Target, verdict: str) -> None:
    """A round's ratio is of that round: the machine was ten times slower in the second, and the ratio is still 4."""
    entries = {
        "a": Entry("a", seconds=[4.0, 40.0, 4.0], rise_mb=100.0),
        "b": Entry("b", seconds=[1.0, 10.0, 1.0]),
        "failed": Entry("failed", status="failed", seconds=[1.0, 1.0, 1.0]),
    }
    assert judge(target, entries)["verdict"] == verdict


def test_the_diagonal_is_judged_apart() -> None:
    K = np.array([[4.0, 1.0], [1.0, 1.0]])
    assert gram_difference(K + np.diag([4e-8, 0.0]), K) == pytest.approx({"": 0.0, " diagonal": 1e-8})
    off = np.array([[0.0, 2e-8], [0.0, 0.0]])
    assert gram_difference(K + off, K) == pytest.approx({"": 1e-8, " diagonal": 0.0})


def test_peers_go_on_after_one_that_cannot_be_installed(tmp_path: Path) -> None:
    done = tmp_path / "scikit-learn" / ".installed"
    done.parent.mkdir()
    done.write_text("scikit-learn\n")
    run = subprocess.run(
        [str(BENCH / "peers.sh"), f"{tmp_path}/", "jax", "nobody", "scikit-learn"],
        env={**os.environ, "SIMLAB_BENCH_PYTHON": "false"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert "jax: could not be installed" in run.stderr
    assert "nobody: not a peer" in run.stderr
    assert "not installed: jax nobody" in run.stderr
    assert "scikit-learn: already in" in run.stdout


PIP = """#!/bin/sh
# Stands in for Python: makes an environment whose python is this file, and answers for pip as the variables say.
case "$*" in
    "-m venv "*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
    *--upgrade*) ;;
    *"index versions"*) echo "Available versions: $VERSIONS" ;;
    *--dry-run*--index-url*) [ -n "$INDEX" ] && echo "$INDEX" ;;
    *--dry-run*+cpu*) [ -n "$MARKED" ] && echo "$MARKED" ;;
    *--dry-run*) [ -n "$NEWEST" ] && echo "$NEWEST" ;;
    *" install "*) echo "${*#*install }" >>"$DIARY" ;;
esac
"""
CPU = '{"install": [{"metadata": {"name": "torch"}}]}'
CUDA = '{"install": [{"metadata": {"name": "torch"}}, {"metadata": {"name": "nvidia-cublas"}}]}'
OFFICIAL = "-qq --retries 1 --timeout 10 --index-url https://download.pytorch.org/whl/cpu torch"


@pytest.mark.parametrize(
    ("pip", "taken"),
    [
        ({"INDEX": CPU, "VERSIONS": "2.9.0+cpu", "MARKED": CPU, "NEWEST": CUDA}, OFFICIAL),
        ({"INDEX": CUDA, "VERSIONS": "2.9.1, 2.9.0+cpu, 2.8.0+cpu", "MARKED": CPU}, "-qq torch==2.9.0+cpu"),
        ({"VERSIONS": "2.9.1, 2.9.0+cpu, 2.9.0", "MARKED": CPU, "NEWEST": CUDA}, "-qq torch==2.9.0+cpu"),
        ({"VERSIONS": "2.9.1, 2.9.0", "NEWEST": CPU}, "-qq torch"),
        ({"VERSIONS": "2.9.1, 2.9.0", "NEWEST": CUDA}, None),
        ({"VERSIONS": "2.9.1, 2.9.0", "NEWEST": CUDA, "SIMLAB_BENCH_CUDA": "1"}, "--quiet torch"),
        ({}, None),
    ],
)
def test_pytorch_is_taken_without_cuda(tmp_path: Path, pip: dict[str, str], taken: str | None) -> None:
    """From PyTorch's index, else a build marked +cpu, else the newest that needs no CUDA; never with it unasked."""
    python, diary = tmp_path / "python", tmp_path / "diary"
    python.write_text(PIP)
    python.chmod(0o755)
    settings = {"SIMLAB_BENCH_PYTHON": str(python), "DIARY": str(diary)}
    names = dict.fromkeys(("INDEX", "VERSIONS", "MARKED", "NEWEST", "SIMLAB_BENCH_CUDA"), "")
    run = subprocess.run(
        [str(BENCH / "peers.sh"), f"{tmp_path}/", "torch"],
        env={**os.environ, **names, **settings, **pip}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if taken is None:
        assert run.returncode == 1
        assert "torch: pip finds no build without CUDA; SIMLAB_BENCH_CUDA=1 takes" in run.stderr
        assert not diary.exists()
    else:
        assert run.returncode == 0
        assert diary.read_text().splitlines() == [taken, "--quiet --disable-pip-version-check torch numpy"]
        assert (tmp_path / "torch" / ".installed").read_text() == "torch numpy\n"
