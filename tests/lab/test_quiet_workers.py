"""Workers write no traceback to the terminal: not when their directory is deleted, nor when the parent is killed."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from simlab.lab.options import RunOptions
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]


def endless(write_spec: Callable[..., Path]) -> Path:
    tables = small_tables(seeds=2)
    tables["flow"]["steps"] = 2_000_000_000
    tables["experiment"]["records"] = 200_000
    return write_spec(tables)


def start(*arguments: Any, errors: Path) -> subprocess.Popen[bytes]:
    with errors.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "simlab", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=file
        )


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def children_of(parent: psutil.Process) -> list[psutil.Process]:
    """Its workers; what it asks of the system while it starts does not count."""
    found = []
    for child in parent.children():
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [child] if any("simlab.lab.worker" in word for word in child.cmdline()) else []
    return found


@pytest.mark.parametrize("when", ["starting", "working"])
@pytest.mark.parametrize("what", ["directory deleted", "parent killed"])
def test_nothing_but_a_line(tmp_path: Path, write_spec: Any, what: str, when: str) -> None:
    out, errors = tmp_path / "out", tmp_path / "errors"
    process = start("run", endless(write_spec), "-o", out, "-q", "--commit-seconds", "0", errors=errors)
    workers: list[psutil.Process] = []
    try:
        parent = psutil.Process(process.pid)
        wait_for(lambda: bool(children_of(parent)))
        workers = children_of(parent)
        if when == "working":
            wait_for(lambda: any((out / "segments").glob("*.h5")))
        if what == "directory deleted":
            shutil.rmtree(out, ignore_errors=True)
            shutil.rmtree(out, ignore_errors=True)  # a commit may have come between
            assert process.wait(120) in (1, 2)
        else:
            process.kill()
            process.wait(30)
        _, alive = psutil.wait_procs(workers, 60)
        assert not alive
    finally:
        process.kill()
        for worker in workers:
            if worker.is_running():
                worker.kill()
    said = errors.read_text().splitlines()
    assert len(said) == (1 if what == "directory deleted" else 0), said
    if said:
        assert said[0].startswith(f"simlab: {out}")


def test_a_broken_worker_is_one_line_and_its_traceback_is_there_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A bug outside of any point."""
    broken = (
        "import simlab.lab.worker as w\ndef f(self): raise ZeroDivisionError('a bug')\nw.Worker._next = f\nw.main()"
    )
    real = subprocess.Popen
    monkeypatch.setattr("simlab.lab.pool.subprocess.Popen", lambda a, **o: real([sys.executable, "-c", broken], **o))
    for shows in (False, True):
        monkeypatch.delenv("SIMLAB_TRACEBACK", raising=False)
        if shows:
            monkeypatch.setenv("SIMLAB_TRACEBACK", "1")
        with pytest.raises(Exception, match=r"^ZeroDivisionError: a bug \(SIMLAB_TRACEBACK=1 prints where\)$"):
            run_spec(resolve(small_tables()), tmp_path / "out", RunOptions(workers=1))
        assert ("Traceback" in capfd.readouterr().err) == shows


def test_a_report_into_a_closed_pipe_ends_without_a_word() -> None:
    """The parent is gone between two reports."""
    script = (
        "import os, sys\nfrom simlab.lab.worker import send\nr, w = os.pipe()\nos.close(r)\n"
        "send(os.fdopen(w, 'w'), {'ready': True})\nprint('still here')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_a_command_cut_short_ends_without_a_word(tmp_path: Path) -> None:
    """The parent was killed while it wrote."""
    spec = resolve(small_tables())
    outcome = run_spec(spec, tmp_path / "out", RunOptions(workers=1))
    process = subprocess.Popen(
        [sys.executable, "-c", "from simlab.lab.worker import main; main()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    job = f'{{"directory": "{outcome.directory}", "commit_seconds": 30}}\n'
    _, said = process.communicate(job + '{"points": [[0, fal', timeout=120)
    assert said == ""
    assert process.returncode == 1
