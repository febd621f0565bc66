"""Gram files: every flipped bit is found and named, repaired on request; nothing else is touched."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simlab.core.errors import BadInput, WriteFailed
from simlab.kernels import ntk
from simlab.kernels.gram import earlier, skeleton, store, stored
from simlab.kernels.gram.blocks import Matrix
from simlab.kernels.gram.journal import Journal
from simlab.kernels.gram.store import Listener, gram_file
from simlab.kernels.gram.stored import verify_gram
from tests.support.gram_stores import stop_after

KERNELS = {"ntk_2": ntk(2), "ntk_3": ntk(3)}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LARGEST_BLOCK_ROWS", 32)


@pytest.fixture(scope="module")
def X() -> Any:
    return np.random.default_rng(5).standard_normal((100, 4))


def flip(path: Path, at: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def place_of(path: Path, name: str, row: int, column: int) -> int:
    with h5py.File(path, "r") as file:
        return int(file[name].id.get_offset()) + (row * file[name].shape[1] + column) * file[name].dtype.itemsize


def names(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.iterdir())


def test_a_finished_file_is_sound_and_plain_hdf5(X: Any, tmp_path: Path) -> None:
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    assert verify_gram(path) == []
    with h5py.File(path, "r") as file:
        assert list(file) == list(KERNELS)


def test_every_flipped_bit_is_found(X: Any, tmp_path: Path) -> None:
    """Of each byte outside the matrices, and of 300 inside them, one bit."""
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    whole = path.read_bytes()
    journal = stored.frame_of(path).journal
    assert journal is not None
    inside = {at for begin, end in journal.extents() for at in range(begin, end)}
    chance = random.Random(1)
    # The runs of zeros between HDF5's messages are many alike: every fifth byte of the frame.
    frame = [at for at in range(len(whole)) if at not in inside]
    places = chance.sample(sorted(inside), 300) + frame[:: max(1, len(frame) // 600)]
    for at in places:
        content = bytearray(whole)
        content[at] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        lines = verify_gram(path)
        assert lines, f"byte {at}"
        assert all(line.startswith(f"{path}: ") and len(line) < 500 and "\n" not in line for line in lines)
        assert (at in inside) == ("rows" in lines[0])
    path.write_bytes(whole)
    assert verify_gram(path) == []


@pytest.mark.parametrize(
    ("row", "column", "says"),
    [
        (40, 5, "ntk_3, rows 32 to 63, columns 0 to 31"),
        (5, 40, "ntk_3, rows 0 to 31, columns 32 to 63"),  # the mirror
        (99, 99, "ntk_3, rows 96 to 99, columns 96 to 99"),
    ],
)
def test_a_damaged_block_is_named_and_computed_again(
    X: Any, tmp_path: Path, row: int, column: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    whole = path.read_bytes()
    flip(path, place_of(path, "ntk_3", row, column))
    assert verify_gram(path) == [f"{path}: damaged: {says}"]
    with pytest.raises(BadInput, match="--repair computes") as refused:
        gram_file(KERNELS, X, path)
    assert says in str(refused.value)
    assert names(tmp_path) == ["K.h5"]
    written: list[Any] = []
    write = Matrix.write
    monkeypatch.setattr(Matrix, "write", lambda *a: (written.append(a), write(*a))[1])
    gram_file(KERNELS, X, path, repair=True)
    assert len(written) == len(KERNELS)  # one block of each
    assert path.read_bytes() == whole
    assert names(tmp_path) == ["K.h5"]


def test_a_repair_that_is_killed_goes_on(X: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    whole = path.read_bytes()
    flip(path, place_of(path, "ntk_2", 0, 0))
    for name, of in (("replace", os), ("_fill", store), ("finish", stored)):
        with monkeypatch.context() as patch:
            if name == "replace":
                patch.setattr(earlier.os, "replace", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
                patch.setattr(Journal, "commit", lambda self, at: at.write_text(self.text()))
            else:
                patch.setattr(of, name, lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                gram_file(KERNELS, X, path, repair=True)
    gram_file(KERNELS, X, path)
    assert path.read_bytes() == whole
    assert names(tmp_path) == ["K.h5"]


@pytest.mark.parametrize("at", [9, 60, 300])
def test_damage_outside_the_matrices_costs_no_block(
    X: Any, tmp_path: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    whole = path.read_bytes()
    flip(path, at)
    with pytest.raises(BadInput, match="damaged outside the matrices; --repair"):
        gram_file(KERNELS, X, path)
    with monkeypatch.context() as patch:
        patch.setattr(Matrix, "write", lambda *a: pytest.fail("a block is computed again"))
        gram_file(KERNELS, X, path, repair=True)
    assert path.read_bytes() == whole
    assert names(tmp_path) == ["K.h5"]


def test_what_cannot_be_mended_is_set_aside(X: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where another version of HDF5 lays the file out in another way."""
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    whole = path.read_bytes()
    flip(path, 60)
    damaged = path.read_bytes()
    monkeypatch.setattr(skeleton, "mend", lambda *a: False)
    said: list[str] = []
    gram_file(KERNELS, X, path, repair=True, listener=Listener(say=said.append))
    assert any("set aside as K.h5.part.damaged" in line for line in said)
    assert path.read_bytes() == whole
    assert (tmp_path / "K.h5.part.damaged").read_bytes() == damaged


def test_a_file_that_is_cut_short_is_set_aside(X: Any, tmp_path: Path) -> None:
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    whole = path.read_bytes()
    for length in (len(whole) - 1, len(whole) // 2, 5000):
        path.write_bytes(whole[:length])
        assert "damaged" in verify_gram(path)[0]
        with pytest.raises(BadInput, match="--repair sets it aside"):
            gram_file(KERNELS, X, path)
        gram_file(KERNELS, X, path, repair=True)
        assert path.read_bytes() == whole
    assert names(tmp_path) == ["K.h5", "K.h5.damaged", "K.h5.damaged-2", "K.h5.damaged-3"]


def test_a_damaged_seal_alone_costs_no_block(X: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gram_file(KERNELS, X, tmp_path / "K.h5")
    whole = path.read_bytes()
    flip(path, len(whole) - 5)
    with pytest.raises(BadInput, match="--repair"):
        gram_file(KERNELS, X, path)
    monkeypatch.setattr(Matrix, "write", lambda *a: pytest.fail("a block is computed again"))
    gram_file(KERNELS, X, path, repair=True)
    assert path.read_bytes() == whole


def test_the_same_command_on_a_finished_file_is_done(X: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "K.h5"
    with monkeypatch.context() as patch:  # killed between the rename and the removal of the journal
        patch.setattr(store, "fsync_directory", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            gram_file(KERNELS, X, path)
    assert names(tmp_path) == ["K.h5", "K.h5.part.json"]
    whole, when = path.read_bytes(), path.stat().st_mtime_ns
    monkeypatch.setattr(store, "_fill", lambda *a: pytest.fail("computed again"))
    for _ in range(2):
        said: list[str] = []
        gram_file(KERNELS, X, path, listener=Listener(say=said.append))
        assert "done already" in said[-1]
        assert names(tmp_path) == ["K.h5"]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (whole, when)
    for kernels, data, dtype, differs in (
        ({"ntk_2": ntk(2)}, X, "float64", "kernels"),
        (KERNELS, X + 1, "float64", "inputs"),
        (KERNELS, X, "float32", "dtype"),
    ):
        with pytest.raises(BadInput, match=f"exists already, of another Gram matrix .{differs} differ"):
            gram_file(kernels, data, path, dtype=dtype)
    monkeypatch.setattr(store, "source_hash", lambda: "other sources")
    with pytest.raises(BadInput, match="code differ"):
        gram_file(KERNELS, X, path)
    assert path.read_bytes() == whole


def test_a_file_of_an_earlier_version_has_no_checksums(X: Any, tmp_path: Path) -> None:
    path = tmp_path / "K.h5"
    with h5py.File(path, "w") as file:
        file.attrs.update({"dtype": "float64", "inputs": "x", "code": "y"})
        file["ntk_2"] = ntk(2).gram(X)
    assert "holds no checksums" in verify_gram(path)[0]
    for repair in (False, True):
        with pytest.raises(BadInput, match=r"exists already; holds no checksums.*--overwrite"):
            gram_file(KERNELS, X, path, repair=repair)
    gram_file(KERNELS, X, path, overwrite=True)
    assert verify_gram(path) == []


@pytest.mark.parametrize("mirror", [False, True])
def test_a_committed_block_is_checked_before_it_is_gone_on_with(X: Any, tmp_path: Path, mirror: bool) -> None:
    whole = gram_file(KERNELS, X, tmp_path / "whole.h5").read_bytes()
    path, part = tmp_path / "K.h5", tmp_path / "K.h5.part"
    stop_after(4, KERNELS, X, path)
    assert len(json.loads((tmp_path / "K.h5.part.json").read_text())["done"]) == 4
    row, column = (3, 35) if mirror else (35, 3)
    flip(part, place_of(part, "ntk_2", row, column), 7)
    damaged = part.read_bytes()
    with pytest.raises(BadInput, match=r"ntk_2, rows \d+ to \d+, columns \d+ to \d+; --repair computes it again"):
        gram_file(KERNELS, X, path)
    assert part.read_bytes() == damaged
    said: list[str] = []
    gram_file(KERNELS, X, path, repair=True, listener=Listener(say=said.append))
    assert any("3 of 10 blocks are there" in line for line in said)
    assert path.read_bytes() == whole


def test_every_bit_of_an_unfinished_file_counts(X: Any, tmp_path: Path) -> None:
    """One flipped bit in the journal, in the frame or in a committed block: refused, and nothing is changed."""
    path, part, journal = (tmp_path / name for name in ("K.h5", "K.h5.part", "K.h5.part.json"))
    stop_after(4, KERNELS, X, path)
    state = Journal.read(journal)
    uncommitted = {
        place
        for number, (rows, columns) in enumerate(state.blocks)
        if number not in state.done
        for begin in state.offsets.values()
        for a, b in ((rows, columns), (columns, rows))
        for row in range(a.start, a.stop)
        for place in range(begin + (row * 100 + b.start) * 8, begin + (row * 100 + b.stop) * 8)
    }
    chance = random.Random(2)
    for file in (part, journal):
        content = file.read_bytes()
        for at in chance.sample(sorted(set(range(len(content))) - (uncommitted if file == part else set())), 60):
            changed = bytearray(content)
            changed[at] ^= 1 << chance.randrange(8)
            file.write_bytes(changed)
            with pytest.raises(BadInput, match="--repair") as refused:
                gram_file(KERNELS, X, path)
            assert len(str(refused.value)) < 500
            assert file.read_bytes() == changed
        file.write_bytes(content)
    gram_file(KERNELS, X, path)
    assert verify_gram(path) == []


def test_a_damaged_journal_is_set_aside_with_its_blocks(X: Any, tmp_path: Path) -> None:
    whole = gram_file(KERNELS, X, tmp_path / "whole.h5").read_bytes()
    stop_after(4, KERNELS, X, tmp_path / "K.h5")
    flip(tmp_path / "K.h5.part.json", 60)
    before = {name: (tmp_path / name).read_bytes() for name in ("K.h5.part", "K.h5.part.json")}
    said: list[str] = []
    gram_file(KERNELS, X, tmp_path / "K.h5", repair=True, listener=Listener(say=said.append))
    assert (tmp_path / "K.h5").read_bytes() == whole
    assert all((tmp_path / f"{name}.damaged").read_bytes() == content for name, content in before.items())
    assert names(tmp_path) == ["K.h5", "K.h5.part.damaged", "K.h5.part.json.damaged", "whole.h5"]
    assert "set aside" in said[0]


def test_a_damaged_header_of_an_unfinished_file_costs_no_block(X: Any, tmp_path: Path) -> None:
    whole = gram_file(KERNELS, X, tmp_path / "whole.h5").read_bytes()
    stop_after(4, KERNELS, X, tmp_path / "K.h5")
    flip(tmp_path / "K.h5.part", 60)
    said: list[str] = []
    gram_file(KERNELS, X, tmp_path / "K.h5", repair=True, listener=Listener(say=said.append))
    assert "damaged outside the matrices; mended" in said[0]
    assert "going on, 4 of 10 blocks are there" in said[1]
    assert (tmp_path / "K.h5").read_bytes() == whole
    assert names(tmp_path) == ["K.h5", "whole.h5"]


def test_half_written_files_of_a_kill_are_removed_and_no_others(X: Any, tmp_path: Path) -> None:
    for name in (
        "K.h5.part.json.0123abcd.tmp",
        "K.h5.part.0123abcd.tmp",
        "K.h5.part.json.notes.tmp",
        "K.h5.0123abcd.tmp",
    ):
        (tmp_path / name).write_text("half")
    gram_file(KERNELS, X, tmp_path / "K.h5")
    assert names(tmp_path) == ["K.h5", "K.h5.0123abcd.tmp", "K.h5.part.json.notes.tmp"]


def test_a_full_disk_is_one_line(X: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(WriteFailed, match="No space left on device"):
            gram_file(KERNELS, X, tmp_path / "K.h5")
    with monkeypatch.context() as patch:
        patch.setattr(stored, "write_all", full)  # the last lines of the file
        with pytest.raises(WriteFailed, match="No space left on device"):
            gram_file(KERNELS, X, tmp_path / "K.h5")
    gram_file(KERNELS, X, tmp_path / "K.h5")
    assert verify_gram(tmp_path / "K.h5") == []


@pytest.mark.parametrize("end", [".part", ".part.json", ".lock"])
@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_nothing_is_written_through_a_link(X: Any, tmp_path: Path, end: str, dangling: bool, overwrite: bool) -> None:
    other = tmp_path / "elsewhere" / "precious"
    other.parent.mkdir()
    if not dangling:
        gram_file(KERNELS, X[:20], other)
    content = None if dangling else other.read_bytes()
    here = tmp_path / "here"
    here.mkdir()
    (here / f"K.h5{end}").symlink_to(other)
    with pytest.raises(BadInput, match="is a link, and nothing is written through it") as refused:
        gram_file(KERNELS, X, here / "K.h5", overwrite=overwrite, repair=overwrite)
    assert f"K.h5{end}" in str(refused.value)
    assert (other.read_bytes() if other.exists() else None) == content
    assert names(here) == [f"K.h5{end}"]


def test_a_second_name_of_an_unfinished_file_is_not_written_through(X: Any, tmp_path: Path) -> None:
    stop_after(2, KERNELS, X, tmp_path / "K.h5")
    backup = tmp_path / "backup"
    backup.hardlink_to(tmp_path / "K.h5.part")
    content = backup.read_bytes()
    with pytest.raises(BadInput, match=r"K.h5.part: has 2 names \(hard links\)"):
        gram_file(KERNELS, X, tmp_path / "K.h5")
    assert backup.read_bytes() == content


def test_a_linked_result_stands_for_what_it_leads_to(X: Any, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "K.h5"
    link.symlink_to(tmp_path / "disk" / "big.h5")
    gram_file(KERNELS, X, link)
    assert link.is_symlink()
    assert names(tmp_path / "disk") == ["big.h5"]
    assert verify_gram(link) == []
    gram_file(KERNELS, X, link)
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(BadInput, match="is a link"):
        gram_file(KERNELS, X, link)
    link.unlink()
    link.symlink_to("/")
    with pytest.raises(BadInput, match="/: "):
        gram_file(KERNELS, X, link)


def test_foreign_files_in_the_way_stay(X: Any, tmp_path: Path) -> None:
    for end, says in ((".part", "not a file of simlab"), (".lock", "not a lock of simlab")):
        here = tmp_path / end
        here.mkdir()
        (here / f"K.h5{end}").write_text("notes")
        for overwrite in (False, True):
            with pytest.raises(BadInput, match=says):
                gram_file(KERNELS, X, here / "K.h5", overwrite=overwrite, repair=overwrite)
        assert (here / f"K.h5{end}").read_text() == "notes"
    (tmp_path / "K.h5.part.json").write_text("notes")
    with pytest.raises(BadInput, match="not a journal of this version of simlab"):
        gram_file(KERNELS, X, tmp_path / "K.h5")
    gram_file(KERNELS, X, tmp_path / "K.h5", overwrite=True)
    assert (tmp_path / "K.h5.part.json.damaged").read_text() == "notes"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="not a regular file"):
        gram_file(KERNELS, X, tmp_path / "pipe")


def test_verify_refuses_what_is_not_there(tmp_path: Path) -> None:
    for path, says in ((tmp_path / "no.h5", "no such file"), (tmp_path, "not a file")):
        with pytest.raises(BadInput, match=says):
            verify_gram(path)
    (tmp_path / "notes").write_text("notes")
    assert "not a Gram matrix" in verify_gram(tmp_path / "notes")[0]
