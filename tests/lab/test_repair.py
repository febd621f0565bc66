"""A damaged or lost segment is refused by name; `--repair` sets it aside, and ends bit for bit as a sound run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.results import once_names
from simlab.lab.run import run_spec
from simlab.lab.spec import Spec, resolve
from simlab.record.checksum import Damaged
from simlab.record.index import Index
from simlab.record.reader import Results
from simlab.record.repair import repair
from simlab.record.segments import Checkpoint
from simlab.record.verify import verify_run
from simlab.record.writer import Writer
from tests.support.runs import datasets, small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
POINTS = 4
ABOUT: dict[str, Any] = {"versions": {}, "git_commit": "", "machine": {}}


def the_spec() -> Spec:
    return resolve(small_tables(seeds=POINTS))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_spec(the_spec(), tmp_path_factory.mktemp("reference") / "run", RunOptions(workers=1)).directory


def in_pieces(directory: Path, reference: Path) -> dict[str, Path]:
    """The same run, committed in pieces: point 0 in two segments, points 0 to 2 finished, point 3 not begun.

    begin: records 0 to 2 of point 0.
    once: the values that point 0 gives once, and nothing else.
    end: records 3 to 5 of point 0 and its mark, and all of point 1.
    other: all of point 2.
    """
    spec, rows, run = the_spec(), Results(reference), RunDirectory(directory)
    directory.mkdir()
    run.begin(spec, overwrite=False)
    names = [name for name in rows if rows.dims[name] == ("seed", "record")]
    once = [name for name in rows if rows.dims[name] == ("seed",) and name not in ("seed", "status", "length")]

    def writer(letter: str) -> Writer:
        wrote = Writer(run.segments, spec.hash, ABOUT)
        wrote.token = letter * 12
        return wrote

    def add(wrote: Writer, point: int, first: int, stop: int) -> None:
        wrote.add(point, first, {name: rows[name][point, first:stop] for name in names})

    def add_once(wrote: Writer, point: int) -> None:
        wrote.add(point, -1, {name: rows[name][point : point + 1] for name in once})

    begin, middle, end, other = map(writer, "bcde")
    add(begin, 0, 0, 3)
    add_once(middle, 0)
    add(end, 0, 3, 6)
    for wrote, point in ((end, 1), (other, 2)):
        add(wrote, point, 0, 6)
        add_once(wrote, point)
        wrote.finish(point, 6)
    end.finish(0, 6)
    paths = {
        "begin": begin.commit({0: Checkpoint({}, 3, 0, 2)}),  # no state: nobody may go on from a second commit
        "once": middle.commit({}),
        "end": end.commit({}),
        "other": other.commit({}),
    }
    return {name: path for name, path in paths.items() if path is not None}


def flip(path: Path, byte: int | None = None) -> bytes:
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if byte is None else byte] ^= 1
    path.write_bytes(content)
    return bytes(content)


def test_a_damaged_segment_is_refused_and_repaired(tmp_path: Path, simlab: Call, reference: Path) -> None:
    """From the command line: refused in one line by all that write; after --repair the bits are a sound run's."""
    out = tmp_path / "out"
    paths = in_pieces(out, reference)
    content = flip(paths["begin"])
    for command in (["resume", out], ["collate", out]):
        done = simlab(*command)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert paths["begin"].name in done.stderr
        assert f"simlab resume --repair {out}" in done.stderr
        assert not (out / "results.h5").exists()
        assert paths["begin"].read_bytes() == content
    done = simlab("resume", "--repair", out, "--workers", "1")
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "moved to" in line]
    assert len(said) == 1
    assert f"moved to damaged/{paths['begin'].name}" in said[0]
    assert (out / "damaged" / paths["begin"].name).read_bytes() == content
    assert datasets(out / "results.h5") == datasets(reference / "results.h5")
    assert verify_run(out) == []
    assert simlab("resume", out).returncode == 0
    kept = sorted((out / "damaged").iterdir())
    assert simlab("run", reference / "spec.toml", "-o", out, "--overwrite", "-q").returncode == 0
    assert sorted((out / "damaged").iterdir()) == kept, "what was set aside is never deleted"


@pytest.mark.parametrize("lost", ["begin", "once", "end", "other"])
@pytest.mark.parametrize("how", ["flipped", "deleted"])
def test_whatever_is_lost_its_points_begin_anew(tmp_path: Path, reference: Path, lost: str, how: str) -> None:
    out = tmp_path / "out"
    paths = in_pieces(out, reference)
    kept = {path.name for path in paths.values()}
    if how == "flipped":
        flip(paths[lost])
    else:
        paths[lost].unlink()
    index = mended(out)
    expected = {"begin": {1, 2}, "once": {1, 2}, "end": {2}, "other": {0, 1}}[lost]
    # Without its end point 0 is still whole up to its checkpoint, and goes on from there.
    assert set(index.checkpoints) == ({0} if lost == "end" else set())
    assert set(index.finished) == expected
    assert set(np.flatnonzero(index.covered(POINTS)).tolist()) == expected | set(index.checkpoints)
    held = {path.name for path in out.glob("*/*")}
    assert kept - held <= ({paths[lost].name} if how == "deleted" else set()), "no file with rows of its own is gone"


def test_repaired_runs_end_with_the_same_bits(tmp_path: Path, reference: Path) -> None:
    out = tmp_path / "out"
    paths = in_pieces(out, reference)
    flip(paths["once"])
    paths["end"].write_bytes(paths["end"].read_bytes()[:-20])
    said: list[str] = []
    with pytest.raises(Damaged):
        run_spec(the_spec(), out, RunOptions(workers=1))
    outcome = run_spec(the_spec(), out, RunOptions(workers=1, repair=True), say=said.append)
    assert datasets(outcome.results) == datasets(reference / "results.h5")
    assert sum("moved to damaged/" in line for line in said) == 2
    assert any("1 of 4 points are no longer complete" in line for line in said)


def mended(directory: Path) -> Index:
    run = RunDirectory(directory)
    spec = run.read_spec()
    repair(Writer(run.segments, spec.hash, ABOUT), run.damaged, spec.sweep.points, once_names(spec))
    index = run.index(spec)
    index.check_whole()
    index.check_rows(spec.sweep.points)
    return index


class Killed(BaseException):
    pass


def test_a_repair_killed_at_any_instant_is_completed_by_the_next(
    tmp_path: Path, reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dead from the n-th call on that changes the disk, for every n: then refused or as repaired, never in between."""
    template = tmp_path / "template"
    paths = in_pieces(template, reference)
    flip(paths["begin"])
    flip(paths["other"])
    whole = tmp_path / "whole"
    shutil.copytree(template, whole)
    wanted = mended(whole)
    assert set(wanted.finished) == {1}
    spec = the_spec()
    calls, dies_at = 0, 0

    def mortal(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > dies_at:
                raise Killed
            return real(*arguments, **options)

        return call

    deaths = 0
    for dies_at in range(100):
        out = tmp_path / f"out{dies_at}"
        shutil.copytree(template, out)
        calls = 0
        with monkeypatch.context() as patch:
            for place, name in ((os, "replace"), (os, "fsync"), (Path, "rename"), (Path, "unlink"), (Path, "mkdir")):
                patch.setattr(place, name, mortal(getattr(place, name)))
            try:
                mended(out)
            except Killed:
                deaths += 1
            else:
                break
        run = RunDirectory(out)
        try:  # what a plain resume would go on with
            index = run.index(spec)
            index.check_whole()
            index.check_rows(POINTS)
        except Damaged:
            pass
        else:
            assert index.finished == wanted.finished
            assert not index.checkpoints
        run.tidy()
        index = mended(out)
        assert index.finished == wanted.finished
        assert index.covered(POINTS).tolist() == wanted.covered(POINTS).tolist()
        held = {p.name for folder in ("segments", "damaged") for p in (out / folder).iterdir()}
        assert {path.name for path in paths.values()} <= held
    assert deaths > 8


def test_nothing_is_overwritten_in_damaged(tmp_path: Path, reference: Path) -> None:
    out = tmp_path / "out"
    paths = in_pieces(out, reference)
    (out / "damaged").mkdir()
    (out / "damaged" / paths["other"].name).write_text("mine")
    content = flip(paths["other"])
    mended(out)
    assert (out / "damaged" / paths["other"].name).read_text() == "mine"
    assert (out / "damaged" / f"{paths['other'].name}.1").read_bytes() == content


def test_a_repair_of_a_sound_run_changes_nothing(tmp_path: Path, reference: Path) -> None:
    """Also a point under way, without the values that it gives at its end, stays where it is."""
    out = tmp_path / "out"
    paths = in_pieces(out, reference)
    for name in ("once", "end"):
        paths[name].unlink()
    before = {path: path.read_bytes() for path in (out / "segments").iterdir()}
    assert set(mended(out).checkpoints) == {0}
    assert {path: path.read_bytes() for path in (out / "segments").iterdir()} == before
    assert not (out / "damaged").exists()


def test_a_linked_damaged_directory_is_not_moved_through(tmp_path: Path, reference: Path) -> None:
    out = tmp_path / "out"
    content = flip(in_pieces(out, reference)["other"])
    (tmp_path / "elsewhere").mkdir()
    (out / "damaged").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="is a link"):
        mended(out)
    assert not list((tmp_path / "elsewhere").iterdir())
    assert content in [path.read_bytes() for path in (out / "segments").iterdir()]
