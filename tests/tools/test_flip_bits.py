"""Every flipped bit is found and no sound file is reported; where a check is switched off, the tool says so."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import flip_bits  # noqa: E402
from flip_bits import FinishedStore, Results, Segments, Sound, UnfinishedStore  # noqa: E402

from simlab.record.segments import Segment  # noqa: E402


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> list[Sound]:
    return flip_bits.sound_files(tmp_path_factory.mktemp("sound"), quick=True)


def only(kinds: list[Sound], kind: type[Sound]) -> list[Sound]:
    return [one for one in kinds if isinstance(one, kind)][:1]


def test_every_flip_is_found(kinds: list[Sound]) -> None:
    found = flip_bits.hunt(kinds, 48, 0, 5)
    assert found["wrong"] == []
    assert (found["flips"], found["found"], found["sound_checks"], found["false_alarms"]) == (48, 48, 48, 0)
    assert found["kinds"]["segments"]["flips"] == found["kinds"]["results"]["flips"] == 16
    assert found["kinds"]["stores"]["flips"] == found["kinds"]["unfinished stores"]["flips"] == 8


def test_the_segments_hold_checkpoints(kinds: list[Sound]) -> None:
    (segments,) = only(kinds, Segments)
    assert any(Segment.read(path).checkpoints for path in segments.files())


@pytest.mark.parametrize(
    ("kind", "disabled"),
    [
        (Segments, "simlab.record.verify.verify_run"),
        (Results, "simlab.record.verify.check_seal"),
        (FinishedStore, "simlab.kernels.gram.stored.verify_gram"),
        (UnfinishedStore, "simlab.kernels.gram.earlier.unfinished"),
    ],
)
def test_a_disabled_check_is_noticed(
    kinds: list[Sound], kind: type[Sound], disabled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def believe(*_: Any) -> Any:
        """What the check says of sound files."""
        if kind is UnfinishedStore:
            raise flip_bits.Stopped
        return []

    module, name = disabled.rsplit(".", 1)  # of kernels.gram the function hides the folder
    monkeypatch.setattr(importlib.import_module(module), name, believe)
    monkeypatch.setattr("simlab.record.checksum.SMALL_BYTES", -1)  # nor is it checked when it is opened
    found = flip_bits.hunt(only(kinds, kind), 4, 0, 5)
    assert found["found"] < found["flips"] == 4  # HDF5 itself may stumble over one
    assert {wrong["what"] for wrong in found["wrong"]} == {"no check named the file"}
    assert len(found["wrong"]) == 4 - found["found"]


def test_a_false_alarm_is_noticed(kinds: list[Sound], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simlab.record.verify.verify_run", lambda run: [f"{run}/results.h5: damaged"])
    found = flip_bits.hunt(only(kinds, Results), 2, 0, 5)
    assert found["found"] == found["false_alarms"] == 2
    assert found["wrong"][0]["bit"] is None


def test_what_commands_do_not_mend_is_noticed(kinds: list[Sound], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flip_bits.Command, "program", [sys.executable, "-c", "import sys; sys.exit(0)"])
    (segments,) = only(kinds, Segments)
    found = flip_bits.hunt([segments], 1, 1, 5)
    assert found["found"] == 0
    assert "exit code 0 instead of 2" in found["wrong"][0]["what"]


@pytest.mark.slow
def test_through_the_command_line() -> None:
    command = [sys.executable, str(TOOLS / "flip_bits.py"), "--flips", "12", "--commands", "1", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["found"] == found["flips"] == 12
    assert found["by_commands"] == 6
