"""Every figure can be had as PNG, PDF or SVG: of kernels by the file's suffix, of runs and claims by an option."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from simlab.claims import ledger
from simlab.cli._reproduce import reproduce
from simlab.core.formats import FIGURE_FORMATS
from simlab.lab.directory import RunDirectory
from simlab.lab.spec import resolve
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
HEADS = {"png": b"\x89PNG", "pdf": b"%PDF-", "svg": b"<?xml"}
KERNEL = ("kernel", "laplace", "--c", "1", "--at", "0.5")
SPECTRUM = ("spectrum", "laplace", "--c", "1", "--dim", "3", "--max-degree", "4")


@pytest.mark.parametrize("arguments", [KERNEL, SPECTRUM])
@pytest.mark.parametrize("suffix", FIGURE_FORMATS)
def test_the_suffix_of_plot_is_the_format(
    simlab_again: Call, tmp_path: Path, arguments: tuple[str, ...], suffix: str
) -> None:
    path = tmp_path / f"x.{suffix}"
    assert simlab_again(*arguments, "--plot", path).returncode == 0
    assert path.read_bytes().startswith(HEADS[suffix])
    if suffix == "svg":
        assert "<text" in path.read_text()


@pytest.mark.parametrize("arguments", [KERNEL, SPECTRUM])
@pytest.mark.parametrize("name", ["x.jpeg", "x", "x.eps"])
def test_another_suffix_is_refused_before_the_work(
    simlab_again: Call, tmp_path: Path, arguments: tuple[str, ...], name: str
) -> None:
    done = simlab_again(*arguments, "--plot", tmp_path / name)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "must be .png, .pdf or .svg" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_run_is_drawn_in_the_format_asked_for(
    simlab_again: Call, tmp_path: Path, write_spec: Callable[[dict[str, Any]], Path]
) -> None:
    tables = small_tables(seeds=2) | {"figure": {"kind": "trajectories", "y": ["train_loss"], "seeds": "lines"}}
    out = tmp_path / "out"
    done = simlab_again("run", write_spec(tables), "-o", out, "--figure-format", "svg")
    assert done.stdout.splitlines()[-1] == str(out / "figure.svg"), done.stderr
    assert (out / "figure.svg").read_bytes().startswith(HEADS["svg"])
    assert not (out / "figure.png").exists()
    segments = {path: path.stat().st_mtime_ns for path in out.rglob("segments/*.h5")}
    assert simlab_again("resume", out, "--figure-format", "pdf").returncode == 0
    assert (out / "figure.pdf").read_bytes().startswith(HEADS["pdf"])
    assert {path: path.stat().st_mtime_ns for path in out.rglob("segments/*.h5")} == segments, "only drawn again"
    RunDirectory(out).begin(resolve(tables), overwrite=True)
    assert not list(out.glob("figure.*")), "begun anew, no old figure stays"
    bad = simlab_again("run", write_spec(tables), "-o", tmp_path / "other", "--figure-format", "gif")
    assert bad.returncode == 2
    assert not (tmp_path / "other").exists()


def test_the_figure_is_no_part_of_the_hash() -> None:
    tables = small_tables(seeds=2)
    figure = {"kind": "trajectories", "y": ["train_loss"]}
    assert resolve(tables).hash == resolve(tables | {"figure": figure | {"seeds": "lines"}}).hash


def test_reproduce_takes_the_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def instead(claims: Any, size: str, out: Path, **rest: Any) -> list[dict[str, Any]]:
        seen.update(rest)
        return []

    monkeypatch.setattr(ledger, "reproduce", instead)
    for format_ in ("svg", "png"):
        more = ("--figure-format", format_) if format_ != "png" else ()
        CliRunner().invoke(reproduce, ["relu_parity", "-o", str(tmp_path), "-q", *more], catch_exceptions=False)
        assert seen["figure_format"] == format_
