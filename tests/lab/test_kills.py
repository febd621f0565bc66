"""A sweep killed at random instants and resumed loses nothing and ends bit for bit as if never stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "kill_sweep.py"


def harass(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_kill_9_at_twenty_instants() -> None:
    found = harass("--kills", "20", "--steps", "40000", "--longest", "4")
    assert found["kills"] == 20
    assert found["most_segments"] < 50


@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_signals_commit_and_exit_in_time(name: str) -> None:
    found = harass("--kills", "5", "--signal", name, "--steps", "40000", "--longest", "4")
    assert found["kills"] == 5
