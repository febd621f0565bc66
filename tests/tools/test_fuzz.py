"""Mutated specs and damaged files lead to acceptance or one line; and the fuzzer finds what is planted."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput, SimlabError

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import fuzz  # noqa: E402
from fuzzing import file_damage, file_originals, file_readers, file_runs, judging, pool, spec_cases  # noqa: E402
from fuzzing.judging import Judge, Verdict, bad_line  # noqa: E402
from fuzzing.spec_runs import Specs, bad_output  # noqa: E402

SPECS = 2000
FILES = 200


@pytest.mark.parametrize(("what", "count"), [("specs", SPECS), ("files", FILES)])
def test_nothing_but_acceptance_or_one_line(what: str, count: int) -> None:
    found = fuzz.fuzz(fuzz.CASES[what], seed=1, first=0, count=count, workers=2)
    assert found["violations"] == []
    assert found["cases"] == count
    assert found["accepted"] > count // 20, "most of these must not be refused at the first line"
    assert found["refused"] > count // 4
    assert found["longest_line"]["letters"] < judging.LINE_LETTERS


def test_a_case_depends_on_its_number_and_seed_alone() -> None:
    def contents(seed: int, numbers: list[int]) -> list[bytes]:
        return [spec_cases.case(seed, number).content for number in numbers]

    assert contents(1, [5, 6, 7]) == contents(1, [7, 6, 5])[::-1]
    assert contents(1, [5, 6, 7]) != contents(2, [5, 6, 7])
    assert len(set(contents(1, list(range(200))))) > 190


def test_every_original_is_sound(tmp_path: Path) -> None:
    cases = Specs(1, tmp_path, Judge())
    for name, text, weight in spec_cases.originals():
        if weight > 0.5:  # long sweeps take long
            cases.path.write_text(text)
            verdict = cases.judge(lambda: cases._dry_run([], needs=False))
            assert verdict.outcome == "accepted", (name, verdict)


def _raise(error: BaseException) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


def _warn() -> None:
    warnings.warn("careful", RuntimeWarning, stacklevel=1)


def _import_planted() -> None:
    sys.modules[judging.PLANTED] = sys


def _busy() -> None:
    end = time.process_time() + 30
    while time.process_time() < end:
        pass


def _hidden_memory() -> None:
    try:
        np.empty(1 << 45)
    except MemoryError:
        raise BadInput("spec: too large") from None


class _TwoLines(SimlabError):
    def __str__(self) -> str:
        return "one\ntwo"


class _Long(SimlabError):
    def __str__(self) -> str:
        return "x" * 500


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (lambda: None, "accepted"),
        (_raise(BadInput("network.width = -1: must be positive")), "refused"),
        (_raise(KeyError("x")), "KeyError at"),
        (_raise(RecursionError()), "RecursionError at"),
        (_raise(SystemExit(1)), "SystemExit at"),
        (_raise(MemoryError()), "memory exhausted at"),
        (_hidden_memory, "memory exhausted at"),
        (lambda: np.zeros(1 << 29) + 1, "memory exhausted at"),
        (_raise(_TwoLines()), "an error of several lines"),
        (_raise(_Long()), "an error line of 500 letters or more"),
        (_raise(judging.Wrong("index reads other data")), "silently wrong: index reads other data"),
        (_warn, "warning RuntimeWarning at"),
        (lambda: print("said", file=sys.stderr), "output on standard error"),
        (_import_planted, "a module that the spec names was imported"),
        (_busy, "over 5 s of CPU time in"),
    ],
)
def test_a_call_is_judged(action: Callable[[], Any], outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Judge(seconds=0.2)(action)
    assert found.outcome.startswith(outcome), found
    assert found.is_violation == (outcome not in ("accepted", "refused"))
    assert judging.PLANTED not in sys.modules


def test_memory_above_the_limit_is_seen() -> None:
    """Taken and given back within the case."""
    found = Judge(memory=1 << 28)
    found.memory = 1 << 30  # the address space allows it
    verdict = found(lambda: np.ones(1 << 26).sum())
    assert verdict.memory > 500e6
    found.memory = 1 << 28
    assert found._side_effect(verdict, [], "", 0) == "over the memory limit"


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\x7f", "\x85", "\u2028", "\n", "\r", "\ud800"])
def test_a_line_with_control_characters_is_bad(letter: str) -> None:
    assert bad_line(f"a{letter}b")
    assert not bad_line("σ = 1, “é”: must be α … β")


@pytest.mark.parametrize(
    ("code", "said", "outcome", "bad"),
    [
        (0, "", "accepted", False),
        (2, "simlab: no\n", "refused", False),
        (1, "", "accepted", True),
        (0, "", "refused", True),
        (2, "Traceback …\n", "refused", True),
        (2, "simlab: one\ntwo\n", "refused", True),
        (-11, "simlab: one\n", "refused", True),
    ],
)
def test_the_command_line_is_judged(code: int, said: str, outcome: str, bad: bool) -> None:
    assert bool(bad_output(code, said, outcome)) == bad


def test_a_process_that_dies_or_hangs_is_blamed_on_its_case() -> None:
    name = "tests.support.planted_cases:Planted"
    found = dict(pool.run_all(name, 1, iter(range(6)), workers=1, wall=4.0))
    outcomes = {number: verdict.outcome for number, verdict in found.items()}
    assert outcomes == {
        0: "accepted",
        1: "the process ended, exit code -9",
        2: "no answer within 4 s",
        3: "output from a library",
        4: outcomes[4],
        5: "accepted",
    }
    assert outcomes[4].startswith("SystemExit at")


def test_figures_name_the_cases() -> None:
    figures = fuzz.Figures()
    figures.add(7, Verdict("accepted", seconds=0.5, memory=100))
    figures.add(9, Verdict("KeyError at a:1", detail="'x'"))
    figures.add(8, Verdict("KeyError at a:1", detail="'y'"))
    figures.add(3, Verdict("refused", line=40))
    found = figures.as_dict()
    assert (found["cases"], found["accepted"], found["refused"], found["violating"]) == (4, 1, 1, 2)
    assert found["violations"][0]["cases"] == [8, 9]
    assert found["slowest"] == {"cpu_seconds": 0.5, "case": 7}
    assert found["longest_line"] == {"letters": 40, "case": 3}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> file_runs.Files:
    return file_runs.Files(1, tmp_path_factory.mktemp("files"), Judge())


def _violations(files: file_runs.Files, count: int) -> list[str]:
    found = [files.run(number) for number in range(count)]
    return [verdict.outcome for verdict in found if verdict.is_violation]


def test_a_reader_that_gives_wrong_data_is_found(files: file_runs.Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments read without their seals and checksums: exactly what the checksums are for."""
    monkeypatch.setitem(
        file_readers.READERS, "array", file_readers.Reader(lambda home, path: path.read_bytes(), strict=True)
    )
    monkeypatch.setattr(file_runs, "GROUPS", {"data": file_runs.Group(1, "data/x.npy", ("array",))})
    assert "array: silently wrong: array reads other data" in _violations(files, 10)


def test_a_reader_that_deletes_or_raises_is_found(files: file_runs.Files, monkeypatch: pytest.MonkeyPatch) -> None:
    def removes(home: Path, path: Path) -> None:
        (home / "decoy" / "precious").unlink()

    def raises(home: Path, path: Path) -> None:
        raise KeyError("x")

    for reader, outcome in ((removes, "changed precious"), (raises, "KeyError at")):
        monkeypatch.setitem(file_readers.READERS, "array", file_readers.Reader(reader, strict=False))
        monkeypatch.setattr(file_runs, "GROUPS", {"data": file_runs.Group(1, "data/x.npy", ("array",))})
        found = _violations(files, 3)
        assert len(found) == 3
        assert outcome in found[0]


def test_damage_changes_the_file(files: file_runs.Files) -> None:
    """Most of what is called damage is."""
    changed = 0
    for number in range(40):
        before = file_runs.snapshot(files.home, *file_originals.PARTS)
        file_runs.damaged(random.Random(number), files.home)
        changed += file_runs.snapshot(files.home, *file_originals.PARTS) != before
        files._fresh()
    assert changed >= 36
    assert len({bytes(other) for other in file_damage._others()}) > 15


def test_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "fuzz.py"), "specs", "--count", "3", "--workers", "1"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cases"] == 3
    assert list(tmp_path.iterdir()) == []
