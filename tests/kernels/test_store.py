"""Gram matrices in files: equal to those in memory, resumed after kill -9, nothing lost or overwritten."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from simlab.core.errors import BadInput, WriteFailed
from simlab.kernels import gram, laplace, nngp, ntk
from simlab.kernels.gram import store
from simlab.kernels.gram.blocks import STRIP_ROWS, Matrix
from simlab.kernels.gram.store import Listener, Task, gram_file
from tests.support.gram_stores import stop_after

KERNELS = {"nngp": nngp(3), "ntk": ntk(3)}


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((500, 6))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(store, "LARGEST_BLOCK_ROWS", 128)


def read(path):
    with h5py.File(path, "r") as file:
        return {name: file[name][:] for name in file}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_file_equals_memory(X, tmp_path, small_blocks, dtype):
    path = gram_file(KERNELS, X, tmp_path / "K.h5", dtype=dtype)
    found = read(path)
    for name, expected in zip(KERNELS, gram(list(KERNELS.values()), X, dtype=dtype), strict=True):
        # Tiles begin where blocks do, here at other places than in memory: BLAS may round an inner product otherwise.
        assert found[name].dtype == expected.dtype
        assert np.abs(found[name] - expected).max() <= 1e-14 * 3 if dtype == "float64" else 1e-6
        assert np.array_equal(found[name], found[name].T)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["K.h5"]
    with h5py.File(path) as file:
        assert file["ntk"].attrs["kernel"] == "ntk(depth=3)"


def test_it_goes_on_after_a_stop(X, tmp_path, small_blocks, monkeypatch):
    whole = read(gram_file(KERNELS, X, tmp_path / "whole.h5"))
    stop_after(4, KERNELS, X, tmp_path / "K.h5")
    assert not (tmp_path / "K.h5").exists()
    assert len(json.loads((tmp_path / "K.h5.part.json").read_text())["done"]) == 4
    computed, write = [], Matrix.write
    monkeypatch.setattr(Matrix, "write", lambda *a: (computed.append(a), write(*a))[1])
    said = []
    told = []
    gram_file(KERNELS, X, tmp_path / "K.h5", listener=Listener(lambda *at: told.append(at), said.append))
    assert "4 of 10 blocks" in said[0]
    assert told[0][2] > 0
    assert len(computed) == 2 * 6  # two datasets per block
    assert all(np.array_equal(a, whole[name]) for name, a in read(tmp_path / "K.h5").items())


CHILD = """
import sys, numpy as np
from pathlib import Path
from simlab.kernels.gram import store
from simlab.kernels import nngp, ntk
store.LARGEST_BLOCK_ROWS = 384
X = np.random.default_rng(0).standard_normal((4000, 30))
limits = store.Limits(commit_seconds=0.0)
store.gram_file({"nngp": nngp(3), "ntk": ntk(3)}, X, Path(sys.argv[1]), limits=limits)
"""


def _committed(journal):
    """Blocks on the disk; a journal is replaced by a rename, so what is read is whole."""
    return len(json.loads(journal.read_text())["done"]) if journal.exists() else 0


def test_kill_nine_loses_no_committed_block(tmp_path):
    path, journal = tmp_path / "K.h5", tmp_path / "K.h5.part.json"
    for target in (1, 13, 14, 40):  # of 66 blocks
        process = subprocess.Popen([sys.executable, "-c", CHILD, str(path)])
        while process.poll() is None and _committed(journal) < target:
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert _committed(journal) >= target
        assert not path.exists()
    before = _committed(journal)
    X = np.random.default_rng(0).standard_normal((4000, 30))
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "LARGEST_BLOCK_ROWS", 384)
        gram_file({"nngp": nngp(3), "ntk": ntk(3)}, X, path, listener=Listener(say=said.append))
    assert said == [f"{path}.part: going on, {before} of 66 blocks are there"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["K.h5"]
    found = read(path)
    for name, expected in zip(("nngp", "ntk"), gram([nngp(3), ntk(3)], X), strict=True):
        assert np.array_equal(found[name], expected)


def test_nothing_is_overwritten_or_mixed_unasked(X, tmp_path, small_blocks, monkeypatch):
    path = tmp_path / "K.h5"
    gram_file({"ntk": ntk(3)}, X, path)
    with pytest.raises(BadInput, match=r"exists already, of another Gram matrix .kernels differ.*--overwrite"):
        gram_file({"ntk": ntk(4)}, X, path)
    gram_file({"laplace": laplace(1.0)}, X[:200], path, overwrite=True)
    assert list(read(path)) == ["laplace"]
    stop_after(1, {"ntk": ntk(3)}, X, tmp_path / "J.h5")
    for kernels, data, differs in (
        ({"ntk": ntk(4)}, X, "kernels"),
        ({"ntk": ntk(3)}, X + 1, "inputs"),
    ):
        with pytest.raises(BadInput, match=f"another Gram matrix .{differs} differ"):
            gram_file(kernels, data, tmp_path / "J.h5")
    (tmp_path / "J.h5.part.json").write_text("{")
    with pytest.raises(BadInput, match="not a journal of this version of simlab"):
        gram_file({"ntk": ntk(3)}, X, tmp_path / "J.h5")


def test_a_file_of_someone_else_is_never_overwritten(X, tmp_path):
    for name in ("K.h5", "K.h5.part"):
        (tmp_path / name).write_text("notes")
        for overwrite in (False, True):
            with pytest.raises(BadInput, match=r"exists already|not a Gram matrix of simlab|not a file of simlab"):
                gram_file({"ntk": ntk(3)}, X, tmp_path / "K.h5", overwrite=overwrite)
        assert (tmp_path / name).read_text() == "notes"
        (tmp_path / name).unlink()


def test_refused_inputs_leave_nothing_behind(X, tmp_path):
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(BadInput, match="row 3 of the inputs"):
        gram_file({"ntk": ntk(3)}, bad, tmp_path / "K.h5")
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_until_the_new_one_is_whole(X, tmp_path, small_blocks, monkeypatch):
    path = tmp_path / "K.h5"
    gram_file({"ntk": ntk(3)}, X, path)
    old, fill = path.read_bytes(), store._fill
    monkeypatch.setattr(store, "_fill", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        gram_file({"ntk": ntk(4)}, X, path, overwrite=True)
    assert path.read_bytes() == old
    monkeypatch.setattr(store, "_fill", fill)
    gram_file({"ntk": ntk(4)}, X, path, overwrite=True)
    assert np.abs(read(path)["ntk"] - ntk(4).gram(X)).max() < 1e-12
    assert sorted(p.name for p in tmp_path.iterdir()) == ["K.h5"]


def test_a_damaged_part_is_refused_and_a_second_process_too(X, tmp_path, small_blocks, monkeypatch):
    path = tmp_path / "K.h5"
    fill = store._fill

    def also(*arguments):
        with pytest.raises(BadInput, match="another process is writing it"):
            gram_file({"ntk": ntk(3)}, X, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "_fill", also)
    with pytest.raises(KeyboardInterrupt):
        gram_file({"ntk": ntk(3)}, X, path)
    monkeypatch.setattr(store, "_fill", fill)
    stop_after(1, {"ntk": ntk(3)}, X, path)
    part, journal = tmp_path / "K.h5.part", tmp_path / "K.h5.part.json"
    text = journal.read_text()
    journal.write_text(text.replace('"done": [[0,', '"done": [[1,'))
    assert journal.read_text() != text
    with pytest.raises(BadInput, match="not a journal of this version of simlab"):
        gram_file({"ntk": ntk(3)}, X, path)
    journal.write_text(text)
    with part.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(BadInput, match="gone or cut short"):
        gram_file({"ntk": ntk(3)}, X, path)
    gram_file({"ntk": ntk(3)}, X, path, overwrite=True)
    assert np.abs(read(path)["ntk"] - ntk(3).gram(X)).max() < 1e-12


def test_blocks_of_an_earlier_call_are_kept_whatever_the_memory(X, tmp_path, small_blocks, monkeypatch):
    fill = store._fill
    stop_after(1, {"ntk": ntk(3)}, X, tmp_path / "K.h5")
    blocks = []
    monkeypatch.setattr(store, "LARGEST_BLOCK_ROWS", 256)
    monkeypatch.setattr(store, "_fill", lambda task, *a: (blocks.append(task.block), fill(task, *a)))
    gram_file({"ntk": ntk(3)}, X, tmp_path / "K.h5")
    assert blocks == [128]


def test_memory_sets_the_block(X):
    at_least = 10**9
    small, large = (Task.of(KERNELS, X, "float64", memory) for memory in (at_least, 4 * at_least))
    assert small.block < large.block
    for task, memory in ((small, at_least), (large, 4 * at_least)):
        assert task.block % store.TILE_ROWS == 0
        assert 2 * 8 * task.block * (task.block + STRIP_ROWS) + store.OVERHEAD_BYTES + X.nbytes <= memory
    with pytest.raises(BadInput, match=r"memory = 100 MB: too little here, \d+ MB is the least"):
        Task.of(KERNELS, X, "float64", 100 * 10**6)


def test_a_disk_without_room_is_told_before_the_work(X, tmp_path, monkeypatch):
    for total in (10**12, 1000):
        usage = SimpleNamespace(free=1000, total=total)
        monkeypatch.setattr(store.shutil, "disk_usage", lambda path, usage=usage: usage)
        with pytest.raises(WriteFailed, match="the disk has"):
            gram_file(KERNELS, X, tmp_path / "K.h5")
    assert list(tmp_path.iterdir()) == []
