"""gram twice, after a kill, on damaged files and through links: what it prints and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from simlab.kernels.gram.stored import verify_gram

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    np.save(tmp_path / "X.npy", np.random.default_rng(3).standard_normal((1500, 5)))
    return tmp_path / "X.npy"


def test_done_twice_is_done(simlab_again: Call, tmp_path: Path, inputs: Path) -> None:
    words = ("gram", "ntk", inputs, "--depth", "2", "-o", tmp_path / "K.h5")
    first, again = simlab_again(*words), simlab_again(*words)
    assert (first.returncode, again.returncode) == (0, 0), again.stderr
    assert again.stdout == first.stdout != ""
    assert "done already" in again.stderr
    as_json = simlab_again(*words, "--json", "-q")
    assert as_json.returncode == 0
    assert json.loads(as_json.stdout)["datasets"] == {"ntk_2": "ntk(depth=2)"}
    assert as_json.stderr == ""
    other = simlab_again("gram", "ntk", inputs, "--depth", "3", "-o", tmp_path / "K.h5")
    assert other.returncode == 2
    assert "exists already, of another Gram matrix (kernels differ)" in other.stderr
    assert other.stderr.count("\n") == 1


def test_a_flipped_bit_is_named_and_repaired(simlab_again: Call, tmp_path: Path, inputs: Path) -> None:
    path = tmp_path / "K.h5"
    words = ("gram", "ntk", inputs, "--depth", "2", "-o", path)
    assert simlab_again(*words).returncode == 0
    whole = path.read_bytes()
    with h5py.File(path, "r") as file:
        at = file["ntk_2"].id.get_offset() + 8 * (1500 * 7 + 1200)
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
    found = simlab_again(*words)
    assert found.returncode == 2
    assert "K.h5: damaged: ntk_2, rows 0 to 1499, columns 0 to 1499; --repair computes" in found.stderr
    assert found.stderr.count("\n") == 1
    repaired = simlab_again(*words, "--repair")
    assert repaired.returncode == 0, repaired.stderr
    assert path.read_bytes() == whole


def test_a_link_beside_the_result_is_refused(simlab_again: Call, tmp_path: Path, inputs: Path) -> None:
    (tmp_path / "precious").write_text("notes")
    (tmp_path / "K.h5.part").symlink_to(tmp_path / "precious")
    done = simlab_again("gram", "ntk", inputs, "--depth", "2", "-o", tmp_path / "K.h5", "--overwrite")
    assert done.returncode == 2
    assert "K.h5.part: is a link" in done.stderr
    assert (tmp_path / "precious").read_text() == "notes"


def test_kills_with_committed_blocks(simlab_again: Call, tmp_path: Path, inputs: Path) -> None:
    """The option of the command commits every block: each kill comes after some, and the bytes are those of one go."""
    words = ("gram", "nngp,ntk", str(inputs), "--depth", "3", "--memory", "432MB", "--commit-seconds", "0")
    assert simlab_again(*words, "-o", tmp_path / "whole.h5").returncode == 0
    path, journal = tmp_path / "K.h5", tmp_path / "K.h5.part.json"
    for target in (2, 5):  # of 10 blocks
        process = subprocess.Popen([sys.executable, "-m", "simlab", *words, "-q", "-o", str(path)])
        while process.poll() is None and (
            not journal.exists() or len(json.loads(journal.read_text())["done"]) < target
        ):
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert len(json.loads(journal.read_text())["done"]) >= target
    done = simlab_again(*words, "-o", path)
    assert done.returncode == 0, done.stderr
    assert "going on" in done.stderr
    assert path.read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert verify_gram(path) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["K.h5", "X.npy", "whole.h5"]
