"""Links and crafted files in a run directory: nothing outside it is written, moved or deleted."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.lab.options import RunOptions
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.record.writer import Writer
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = resolve(small_tables(**{"network.width": [10, 20], "seeds": 3}))
    return run_spec(spec, tmp_path_factory.mktemp("finished") / "run", RunOptions(workers=1)).directory


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "out"))


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_linked_segments_are_refused_and_left_alone(
    tmp_path: Path, out: Path, tables: dict[str, Any], write_spec: Write, simlab_again: Call
) -> None:
    """Segments of another run behind a link: `--overwrite` would delete them."""
    elsewhere = tmp_path / "elsewhere"
    (out / "segments").rename(elsewhere)
    (out / "segments").symlink_to(elsewhere)
    (elsewhere / "0123456789ab-000000.h5.0123abcd.tmp").write_text("half-written by its owner")
    before = contents(elsewhere)
    path = write_spec(tables)
    for command in (["run", path, "-o", out, "--overwrite"], ["run", path, "-o", out], ["resume", out],
                    ["resume", "--repair", out], ["collate", out], ["status", out]):  # fmt: skip
        done = simlab_again(*command)
        assert done.returncode == 2, command
        assert "segments: is a link" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert contents(elsewhere) == before


def test_a_linked_segment_is_refused_and_left_alone(
    tmp_path: Path, out: Path, tables: dict[str, Any], write_spec: Write, simlab_again: Call
) -> None:
    segment = next((out / "segments").iterdir())
    segment.rename(tmp_path / segment.name)
    segment.symlink_to(tmp_path / segment.name)
    for command in (["run", write_spec(tables), "-o", out, "--overwrite"], ["resume", "--repair", out]):
        done = simlab_again(*command)
        assert done.returncode == 2
        assert f"{segment.name}: not a file of this run" in done.stderr
    assert segment.is_symlink()
    assert (tmp_path / segment.name).exists()


def test_what_links_lead_to_is_never_written(
    tmp_path: Path, out: Path, tables: dict[str, Any], write_spec: Write, simlab: Call
) -> None:
    """A file is put in place of the link; a lock that is a link is refused."""
    names = ("results.h5", "spec.toml", "given.toml")
    for name in names:
        (tmp_path / name).write_bytes((out / name).read_bytes() if (out / name).exists() else b"mine")
        (out / name).unlink(missing_ok=True)
        (out / name).symlink_to(tmp_path / name)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    assert simlab("run", write_spec(tables, "again.toml"), "-o", out, "--overwrite", "-q").returncode == 0
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert not any((out / name).is_symlink() for name in names)
    for name in (".lock", ".collate"):
        (tmp_path / "mine").write_text("mine")
        (out / name).unlink(missing_ok=True)
        (out / name).symlink_to(tmp_path / "mine")
        done = simlab("resume", out) if name == ".lock" else simlab("collate", out)
        assert done.returncode == 2
        assert f"{name}: is a link" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert (tmp_path / "mine").read_text() == "mine"
        (out / name).unlink()


def test_a_crafted_segment_deletes_nothing(out: Path, simlab: Call) -> None:
    """It is whole and of this spec, and claims to stand for the others."""
    segments = list((out / "segments").iterdir())
    spec = resolve(small_tables(**{"network.width": [10, 20], "seeds": 3}))
    wrote = Writer(out / "segments", spec.hash, {})
    wrote.add(0, 0, {"train_loss": np.zeros(1)})

    class Claims:
        def __init__(self, path: Path) -> None:
            self.path, self.provenance = path, frozenset(["{}"])

    with wrote._new_segment(7, [Claims(path) for path in segments]) as (crafted, _):  # type: ignore[misc]
        pass
    before = contents(out / "segments")
    for command in ("resume", "collate", "status"):
        done = simlab(command, out)
        assert done.returncode == 2
        assert f"{crafted.name}: damaged: it claims to replace" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert contents(out / "segments") == before
    assert simlab("resume", "--repair", out, "-q").returncode == 0
    assert (out / "damaged" / crafted.name).exists()
    assert all(path.exists() for path in segments)
