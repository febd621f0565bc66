"""A first run says that it compiles, and how far it is; a second one compiles nothing and does not speak of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest

from simlab.cli._progress import Display, _points
from simlab.core import catalogue
from simlab.lab.pace import Compiling, Snapshot

Call = Callable[..., subprocess.CompletedProcess[str]]


def test_a_cold_run_says_that_it_compiles_and_a_warm_one_does_not(
    tmp_path: Path, simlab: Call, write_spec: Callable[..., Path]
) -> None:
    spec = write_spec(deepcopy(catalogue.examples("experiments", "cube_bound")[0]))
    env = {"SIMLAB_CACHE_DIR": str(tmp_path / "cache")}
    cold = simlab("run", spec, "-o", tmp_path / "cold", "--workers", "1", env=env)
    assert cold.returncode == 0, cold.stderr
    said = re.findall(r"compiling \(once.*\): (\d+) functions so far, \d+:\d\d", cold.stderr)
    assert said[0] == "0", "at once, before anything is compiled"
    assert "compiling (once, about 20 s): 0 functions so far, 0:00\n" in cold.stderr
    warm = simlab("run", spec, "-o", tmp_path / "warm", "--workers", "1", env=env)
    assert warm.returncode == 0, warm.stderr
    assert "compiling" not in warm.stderr
    assert not list((tmp_path / "cache").glob("numba-*"))


def shot(compiling: Compiling | None) -> Snapshot:
    return Snapshot(10, 0, 0, 8.0, 0.0, None, [], compiling)


def test_what_is_said_while_compiling() -> None:
    assert _points(shot(Compiling(12, 7.0))) == "compiling (once, about 20 s): 12 functions so far, 0:07"
    assert _points(shot(Compiling(31, 65.0))) == "compiling (once): 31 functions so far, 1:05", "no promise once broken"
    assert _points(shot(None)) == "0/10 points, 0/s, 0:08 so far, - left"


def test_the_first_line_does_not_wait(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(quiet=False) as display:
        display(shot(None))
        assert capsys.readouterr().err == "", "lines come every few seconds"
        display(shot(Compiling(0, 0.0)))
        assert "compiling" in capsys.readouterr().err
        display(shot(Compiling(1, 0.2)))
        assert capsys.readouterr().err == ""
    with Display(quiet=True) as display:
        display(shot(Compiling(0, 0.0)))
        assert capsys.readouterr().err == ""
