"""What commands print fits into 80 columns."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from simlab.cli.app import COMMANDS
from simlab.core import catalogue

Call = Callable[..., subprocess.CompletedProcess[str]]
RUNS = sorted((Path(__file__).parents[2] / "runs").glob("*.toml"))


def too_long(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > 80]


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)], ids=lambda c: " ".join(c) or "simlab")
def test_help(simlab_again: Call, command: tuple[str, ...]) -> None:
    done = simlab_again(*command, "--help")
    assert done.returncode == 0
    assert done.stdout
    assert too_long(done.stdout) == []


@pytest.mark.parametrize(
    "command",
    ["list", "show sweep", "kernel ntk --depth 3", "spectrum ntk --depth 3 --dim 10 --max-degree 30", "bench"],
)
def test_commands(simlab_again: Call, command: str) -> None:
    done = simlab_again(*command.split())
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 3
    assert too_long(done.stdout) == []


@pytest.mark.parametrize("room", catalogue.rooms())
def test_every_kind(simlab_again: Call, room: str) -> None:
    for kind in catalogue.names(room):
        done = simlab_again("show", f"{room}/{kind}")
        assert done.stdout
        assert too_long(done.stdout) == [], kind


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_dry_runs(simlab_again: Call, path: Path) -> None:
    assert too_long(simlab_again("run", path, "--dry-run").stdout) == []
