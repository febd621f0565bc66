"""A sweep killed at random instants and resumed loses nothing and ends bit for bit as if never stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "kill_sweep.py"


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the uninterrupted run is kept: the first test computes it, for all."""
    return tmp_path_factory.mktemp("kills") / "reference"


def harass(reference: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(SCRIPT), "--work", "sweep", "--reference", str(reference), "--steps", "25000"]
    command += arguments
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kills", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_kill_9_at_random_instants(reference: Path, kills: int) -> None:
    found = harass(reference, "--kills", str(kills), "--longest", "4")
    assert found["kills"] == kills
    assert (found["lost"], found["differing"], found["failing"]) == (0, 0, 0)
    assert found["work"]["sweep"]["most_segments"] < 50


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("work", ["gram", "collate", pytest.param("reproduce,repair", marks=pytest.mark.slow)])
def test_other_work_killed_at_random_instants(work: str, kills: int) -> None:
    command = [sys.executable, str(SCRIPT), "--work", work, "--kills", str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["kills"] == kills


@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_signals_commit_and_exit_in_time(reference: Path, name: str) -> None:
    found = harass(reference, "--kills", "3", "--signal", name, "--longest", "4")
    assert found["kills"] == 3
