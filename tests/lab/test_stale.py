"""results.h5 is trusted by what it was made from, never by its date; what is damaged is written again, and said."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simlab.lab import results as lab_results
from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.results import collate_run
from simlab.lab.run import run_spec
from simlab.lab.spec import Spec, resolve
from simlab.record.reader import Results
from simlab.record.segments import Segment
from simlab.record.writer import Writer
from tests.support.runs import datasets, small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
ABOUT: dict[str, Any] = {"versions": {}, "git_commit": "", "machine": {}}


def spec_of_two() -> Spec:
    return resolve(small_tables(seeds=2))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_spec(spec_of_two(), tmp_path_factory.mktemp("finished") / "run", RunOptions(workers=1)).directory


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "out"))


def commit_point(run: RunDirectory, spec: Spec, reference: Path, point: int) -> None:
    rows = Results(reference)
    wrote = Writer(run.segments, spec.hash, ABOUT)
    wrote.add(point, 0, {name: rows[name][point] for name in rows if rows.dims[name] == ("seed", "record")})
    once = [n for n in rows if rows.dims[n] == ("seed",) and n not in ("seed", "status", "length")]
    wrote.add(point, -1, {name: rows[name][point : point + 1] for name in once})
    wrote.finish(point, 6)
    wrote.commit({})


def begun(directory: Path, reference: Path) -> tuple[RunDirectory, Spec]:
    """Point 0 committed, point 1 not yet."""
    run, spec = RunDirectory(directory), spec_of_two()
    directory.mkdir()
    run.begin(spec, overwrite=False)
    commit_point(run, spec, reference, 0)
    return run, spec


def test_a_commit_while_results_are_written_makes_them_stale(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`collate` beside a sweep: the last point is committed after segments were read, before the file is written."""
    run, spec = begun(tmp_path / "run", finished)
    real = lab_results.collate

    def slow(*arguments: Any) -> None:
        commit_point(run, spec, finished, 1)
        real(*arguments)

    monkeypatch.setattr(lab_results, "collate", slow)
    collate_run(run, spec)
    assert Results(run.results)["status"].tolist() == [2, 0]
    assert all(path.stat().st_mtime_ns <= run.results.stat().st_mtime_ns for path in run.segments.iterdir())
    monkeypatch.undo()
    assert run.results_state(spec, run.index(spec)) == "stale"
    assert not run.is_collated(spec)
    outcome = run_spec(spec, run.path, RunOptions(workers=1))
    assert datasets(outcome.results) == datasets(finished / "results.h5")
    assert run.is_collated(spec)


@pytest.mark.parametrize("place", ["check_whole", "rows", "contents"])
def test_a_merge_under_a_collate_is_read_again(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Files vanish before they are checked, before their rows are read, or while they are named."""
    run, spec = begun(tmp_path / "run", finished)
    commit_point(run, spec, finished, 1)
    merged = []

    def merge_once() -> None:
        if not merged:
            merged.append(Writer(run.segments, spec.hash, ABOUT).merge(run.index(spec).segments, 1))

    if place == "rows":
        from simlab.record import collate as collating

        real_reading = collating.reading

        def reading(path: Path) -> Any:
            merge_once()
            return real_reading(path)

        monkeypatch.setattr(collating, "reading", reading)
    else:
        name = {"check_whole": "check_whole", "contents": "identity"}[place]
        real: Any = Segment.__dict__[name]

        def call(self: Segment, *arguments: Any) -> Any:
            merge_once()
            return real(self, *arguments) if place == "check_whole" else real.fget(self)

        monkeypatch.setattr(Segment, name, call if place == "check_whole" else property(call))
    collate_run(run, spec)
    assert merged
    monkeypatch.undo()
    assert datasets(run.results) == datasets(finished / "results.h5")
    # Named while they were merged away: stale, and so written again; never trusted wrongly.
    made_from = [name for name, _ in json.loads(Results(run.results).attrs["segments"])]
    assert run.is_collated(spec) == (made_from == [path.name for path in run.segments.iterdir()])
    assert place == "contents" or run.is_collated(spec)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)


@pytest.mark.parametrize("harm", ["flipped", "cut", "rubbish", "no seal"])
def test_damaged_results_are_written_again_and_it_is_said(out: Path, finished: Path, harm: str) -> None:
    results = out / "results.h5"
    content = results.read_bytes()
    if harm == "flipped":
        flip(results)
    else:
        results.write_bytes({"cut": content[:2000], "rubbish": b"rubbish", "no seal": content[:-53]}[harm])
    spec, said = spec_of_two(), list[str]()
    assert not RunDirectory(out).is_collated(spec)
    run_spec(spec, out, RunOptions(workers=1), say=said.append)
    assert any("results.h5: damaged or changed since it was written; written again" in line for line in said)
    assert datasets(results) == datasets(finished / "results.h5")
    said.clear()
    before = results.stat().st_mtime_ns
    run_spec(spec, out, RunOptions(workers=1), say=said.append)
    assert results.stat().st_mtime_ns == before
    assert not any("written again" in line for line in said)


def test_results_of_an_earlier_version_are_written_again_without_a_word(out: Path) -> None:
    with h5py.File(out / "results.h5", "r+") as file:
        del file.attrs["segments"], file.attrs["checksums"]
    spec, said = spec_of_two(), list[str]()
    assert RunDirectory(out).results_state(spec, RunDirectory(out).index(spec)) == "stale"
    run_spec(spec, out, RunOptions(workers=1), say=said.append)
    assert RunDirectory(out).is_collated(spec)
    assert not any("results.h5" in line for line in said)


def test_status_speaks_from_the_segments_whatever_results_are(out: Path, simlab: Call) -> None:
    results = out / "results.h5"
    sound = results.read_bytes()
    wanted = json.loads(simlab("status", out, "--json").stdout)
    assert (wanted["results"], wanted["ended_early"]) == ("sound", [])
    for harm in (b"", b"rubbish", sound[:3000]):
        results.write_bytes(harm)
        done = simlab("status", out, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == wanted | {"results": "damaged", "ended_early": None}
        plain = simlab("status", out)
        assert plain.returncode == 0
        assert "2 of 2 points finished" in plain.stdout
        assert "results.h5 cannot be read" in plain.stdout
        assert " ".join(plain.stdout.split()).endswith("writes it again from the segments")
    with h5py.File(out / "sound.h5", "w") as file:
        file["x"] = np.arange(3)
    (out / "sound.h5").rename(results)
    assert json.loads(simlab("status", out, "--json").stdout)["results"] == "damaged"
    results.unlink()
    assert json.loads(simlab("status", out, "--json").stdout)["results"] == "missing"
    assert simlab("collate", out).returncode == 0
    assert json.loads(simlab("status", out, "--json").stdout)["results"] == "sound"


def test_show_and_collate_of_damaged_results(out: Path, simlab: Call) -> None:
    results = out / "results.h5"
    results.write_bytes(results.read_bytes()[:3000])
    done = simlab("show", out)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"simlab collate {out}" in done.stderr
    done = simlab("collate", out)
    assert done.returncode == 0
    assert "damaged or changed since it was written" in done.stderr
    assert simlab("show", out).returncode == 0


def test_endings_that_are_no_numbers_are_damage(out: Path, simlab: Call) -> None:
    with h5py.File(out / "results.h5", "r+") as file:
        about = dict(file["ending"].attrs)
        shape = file["ending"].shape
        scale = file["ending"].dims[0][0].name
        del file["ending"]
        file.create_dataset("ending", data=np.full(shape, "x", dtype=object), dtype=h5py.string_dtype())
        file["ending"].dims[0].attach_scale(file[scale])
        file["ending"].attrs["long_name"] = about["long_name"]
    done = simlab("status", str(out), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["results"] == "damaged"
