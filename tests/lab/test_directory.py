"""Run directories: gone on with, refused, never harmed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.record.segments import Checkpoint
from simlab.record.writer import Writer
from tests.support.runs import datasets, small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the small spec, to be copied."""
    path = tmp_path_factory.mktemp("finished") / "run"
    run_spec(resolve(small_tables(**{"network.width": [10, 20], "seeds": 3})), path, RunOptions(workers=1))
    return path


def test_running_again_continues_and_another_spec_is_refused(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call
) -> None:
    path, out = write_spec(tables), tmp_path / "out"
    assert simlab("run", path, "-o", out).returncode == 0
    before = datasets(out / "results.h5")
    assert simlab("run", path, "-o", out).returncode == 0
    assert datasets(out / "results.h5") == before
    other = simlab("run", path, "-o", out, "--set", "flow.step=0.2")
    assert other.returncode == 2
    assert "flow.step: 0.1 → 0.2" in other.stderr
    assert len(other.stderr.strip().splitlines()) == 1
    assert datasets(out / "results.h5") == before
    assert simlab("run", path, "-o", out, "--set", "flow.step=0.2", "--overwrite").returncode == 0
    assert datasets(out / "results.h5") != before


def test_a_spec_without_a_seed_goes_on_with_the_seed_it_drew(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call
) -> None:
    del tables["experiment"]["seed"]
    path, out = write_spec(tables), tmp_path / "out"
    first = simlab("run", path, "-o", out, "--json")
    again = simlab("run", path, "-o", out, "--json")
    assert first.returncode == again.returncode == 0
    assert json.loads(first.stdout)["seed"] == json.loads(again.stdout)["seed"]


def test_a_directory_that_is_not_a_run_is_never_touched(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    for more in ([], ["--overwrite"]):
        done = simlab("run", write_spec(tables), "-o", out, *more)
        assert done.returncode == 2
        assert "thesis.tex" in done.stderr
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]


def test_files_that_only_look_temporary_are_foreign(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tmp").write_text("mine")
    assert "thesis.tmp" in simlab("run", write_spec(tables), "-o", out).stderr
    assert (out / "thesis.tmp").read_text() == "mine"
    (out / "thesis.tmp").rename(out / "results.h5.0123abcd.tmp")  # one that a killed process of ours left
    assert simlab("run", write_spec(tables), "-o", out).returncode == 0
    assert not list(out.glob("*.tmp"))
    (out / "segments" / "notes.tmp").write_text("mine")
    assert simlab("resume", out).returncode == 2
    assert (out / "segments" / "notes.tmp").exists()


def test_a_spec_that_is_no_text_is_refused(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "spec.toml").write_bytes(b"a = \xff\xfe\n")
    for more in ([], ["--overwrite"]):
        done = simlab("run", write_spec(tables), "-o", out, *more)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_a_directory_in_use_is_refused(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call, finished: Path
) -> None:
    path, out = write_spec(tables), tmp_path / "out"
    shutil.copytree(finished, out)
    before = datasets(out / "results.h5")
    with FileLock(out / ".lock"):
        for arguments in (["run", path, "-o", out], ["resume", out], ["run", path, "-o", out, "--overwrite"]):
            done = simlab(*arguments)
            assert done.returncode == 2
            assert "in use by another simlab process" in done.stderr
        assert json.loads(simlab("status", out, "--json").stdout)["running"] is True
    assert datasets(out / "results.h5") == before


@pytest.mark.parametrize("harm", ["truncated", "foreign", "dangling", "removed", "edited"])
def test_a_harmed_directory_is_refused(tmp_path: Path, simlab: Call, finished: Path, harm: str) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    segment = min((out / "segments").iterdir())
    if harm == "truncated":
        segment.write_bytes(segment.read_bytes()[:-50])
    elif harm == "foreign":
        segment = out / "segments" / "data.csv"
        segment.write_text("1,2,3")
    elif harm == "dangling":
        segment = out / "segments" / "0123456789ab-000000.h5"
        segment.symlink_to("/nowhere")
    elif harm == "removed":
        segment.unlink()
    else:
        segment = out / "spec.toml"
        segment.write_text(segment.read_text().replace("alpha = 1.0", "alpha = 2.0"))
    for command in ["resume", "collate", "status"]:
        done = simlab(command, out)
        if harm == "removed":
            # Nothing left can tell that finished points were there: they are computed again.
            assert done.returncode == 0
            continue
        assert done.returncode == 2, command
        assert segment.name in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_hole_in_the_records_is_never_collated(tmp_path: Path, write_spec: Write, simlab: Call) -> None:
    """A segment from the middle of a point is deleted: no command goes on as if nothing were missing."""
    out = tmp_path / "out"
    spec = resolve(small_tables())
    run = RunDirectory(out)
    out.mkdir()
    run.begin(spec, overwrite=False)
    wrote = Writer(run.segments, spec.hash, {"versions": {}, "git_commit": "", "machine": {}})
    paths = []
    for first in range(3):
        wrote.add(0, first, {"train_loss": np.ones(1)})
        paths.append(wrote.commit({0: Checkpoint({}, first + 1, 0, first + 1)}))
    assert paths[1] is not None
    paths[1].unlink()
    for command in ("status", "collate", "resume"):
        done = simlab(command, out)
        assert done.returncode == 2
        assert "record 1 of point 0 is missing" in done.stderr
    assert not (out / "results.h5").exists()


def test_a_refused_run_leaves_the_directory_as_it_was(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call, finished: Path
) -> None:
    """Segments without their spec.toml: another spec is refused and does not take the directory over."""
    path, out = write_spec(tables), tmp_path / "out"
    shutil.copytree(finished, out)
    before = datasets(out / "results.h5")
    (out / "spec.toml").unlink()
    assert "belongs to a run of another spec" in simlab("run", path, "-o", out, "--set", "flow.steps=51").stderr
    assert not (out / "spec.toml").exists()
    assert simlab("run", path, "-o", out).returncode == 0
    assert datasets(out / "results.h5") == before


def test_overwrite_deletes_nothing_that_is_not_ours(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call, finished: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    mine = "# my comments\n" + write_spec(tables).read_text()
    (own / "spec.toml").write_text(mine)
    done = simlab("run", own / "spec.toml", "-o", own, "--overwrite")
    assert done.returncode == 2
    assert "not written by simlab" in done.stderr
    assert (own / "spec.toml").read_text() == mine
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    before = sorted(out.rglob("*"))
    (out / "segments" / "notes.txt").write_text("mine")
    assert simlab("run", write_spec(tables), "-o", out, "--overwrite").returncode == 2
    assert sorted(out.rglob("*")) == sorted([*before, out / "segments" / "notes.txt"])


@pytest.mark.parametrize("where", ["file/run", "x" * 300, "/proc/nowhere"])
def test_a_directory_that_cannot_be_made_is_one_line(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write, simlab: Call, where: str
) -> None:
    (tmp_path / "file").write_text("")
    done = simlab("run", write_spec(tables), "-o", where)
    assert done.returncode == 2
    assert "cannot be used as a run directory" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_results_are_collated_again_only_when_they_must_be(tmp_path: Path) -> None:
    """Made from just the segments that are there: kept, whatever the dates. Anything else: written again."""
    spec = resolve(small_tables())
    run = RunDirectory(tmp_path / "run")
    run_spec(spec, run.path, RunOptions(workers=1))
    assert run.is_collated(spec)
    first = run.results.stat()
    run_spec(spec, run.path, RunOptions(workers=1))
    assert run.results.stat().st_mtime_ns == first.st_mtime_ns
    other = small_tables()
    other["experiment"]["seed"] = 12345
    assert not run.is_collated(resolve(other))
    os.utime(next(run.segments.glob("*.h5")))
    assert run.is_collated(spec)
    Writer(run.segments, spec.hash, {}).commit({0: Checkpoint({}, 0, 0, 1)})
    os.utime(next(run.segments.glob("*.h5")), (0, 0))
    assert not run.is_collated(spec), "another segment, whatever its date"
    run_spec(spec, run.path, RunOptions(workers=1))
    assert run.is_collated(spec)
    run.results.write_bytes(b"rubbish")
    assert not run.is_collated(spec)
    run.results.unlink()
    assert not run.is_collated(spec)
