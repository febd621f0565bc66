"""simlab.run: what the command does, from Python."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

import simlab
from simlab.cli._progress import Display
from simlab.core.errors import BadInput
from simlab.lab.pace import Running, Snapshot
from simlab.lab.run import Outcome, default_directory
from simlab.lab.spec import resolve
from simlab.lab.tables import plain
from tests.support.runs import datasets, small_tables

FIGURE = {"kind": "trajectories", "y": ["train_loss"]}


def test_a_dict_is_run_drawn_and_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figure and the numbers are those of the command with the same tables as TOML."""
    xarray = pytest.importorskip("xarray")
    monkeypatch.chdir(tmp_path)
    tables = small_tables(**{"network.width": (10, np.int64(20)), "seeds": 2}) | {"figure": FIGURE}
    tables["flow"]["steps"] = 20.0
    out = simlab.run(tables, settings="experiment.samples=12")
    assert isinstance(out, Outcome)
    assert out.directory == Path("out/gradient_flow")
    assert out.results == out.directory / "results.h5"
    assert out.figure == out.directory / "figure.png"
    assert out.figure.read_bytes().startswith(b"\x89PNG")
    assert (out.points, out.failed, out.seed) == (4, {}, 3)
    with out.dataset as data:
        assert isinstance(data, xarray.Dataset)
        assert data["train_loss"].dims == ("network.width", "seed", "record")
        assert data["network.width"].values.tolist() == [10, 20]
        assert np.isfinite(data["train_loss"].values).all()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "4 of 4 points of gradient_flow to do, seed 3" in printed.err, "as the command: remarks on standard error"

    tables["sweep"] = {"network.width": [10, 20], "seeds": 2}
    tables["experiment"]["samples"] = 12
    (tmp_path / "same.toml").write_text(tomli_w.dumps(tables))
    subprocess.run([sys.executable, "-m", "simlab", "run", "same.toml", "-q"], cwd=tmp_path, check=True, timeout=300)
    assert datasets(tmp_path / "out" / "same" / "results.h5") == datasets(out.results)
    assert (tmp_path / "out" / "same" / "spec.toml").read_text() == (out.directory / "spec.toml").read_text()


def test_a_script_without_a_main_guard_in_a_thread(tmp_path: Path) -> None:
    """Workers do not import the script again, and no signal handler is needed: each line runs once."""
    script = (
        "import threading, simlab\n"
        "print('begun', flush=True)\n"
        f"tables = {small_tables(seeds=2) | {'figure': FIGURE}!r}\n"
        "found = []\n"
        "thread = threading.Thread(target=lambda: found.append(simlab.run(tables, 'out', quiet=True)))\n"
        "thread.start(); thread.join()\n"
        "print(found[0].points, len(found[0].failed), found[0].figure)\n"
    )
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.stdout, done.stderr) == ("begun\n2 0 out/figure.png\n", "")


def test_ctrl_c_leaves_the_run_resumable_and_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from simlab.lab.pool import Pool

    def stopped(self: Pool) -> dict[int, str]:
        raise KeyboardInterrupt

    out = tmp_path / "a b"
    with monkeypatch.context() as patch:
        patch.setattr(Pool, "work", stopped)
        with pytest.raises(KeyboardInterrupt):
            simlab.run(small_tables(), out)
    assert capsys.readouterr().err.endswith(
        f"simlab: stopped; what was committed is kept; `simlab resume '{out}'` goes on\n"
    )
    assert simlab.run(small_tables(), out, quiet=True).failed == {}
    assert capsys.readouterr().err == ""


def test_bad_input_is_one_exception(tmp_path: Path) -> None:
    cases: list[tuple[Any, dict[str, Any], str]] = [
        ("quickstrat", {}, 'did you mean "quickstart"'),
        ("nowhere.toml", {}, "no such file"),
        ({}, {}, r"\[experiment\]: missing"),
        ({"experiment": None}, {}, "experiment = None: must be a string, a number, a list or a table"),
        ({"experiment": {3: 4}}, {}, "experiment: the key 3 must be a string"),
        (small_tables() | {"figure": {"kind": "pie"}}, {}, "figure.kind = 'pie': unknown kind"),
        (small_tables(), {"settings": ["network.widht=3"]}, 'did you mean "width"'),
        (small_tables(), {"data": "nowhere"}, "data = 'nowhere': no such directory"),
        (small_tables(), {"workers": 0}, "workers = 0"),
    ]
    for spec, options, says in cases:
        with pytest.raises(BadInput, match=says):
            simlab.run(spec, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_data_are_given_for_this_run_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMLAB_DATA", raising=False)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((30, 4)))
    tables = small_tables() | {"data": {"kind": "arrays", "path": "x.npy"}}
    assert simlab.run(tables, tmp_path / "out", data=tmp_path, quiet=True).failed == {}
    assert "SIMLAB_DATA" not in os.environ


def test_every_argument_has_a_type() -> None:
    from simlab.core.formats import FigureFormat

    kinds = {"Iterable": Iterable, "Mapping": Mapping, "Path": Path, "Any": Any, "Literal": typing.Literal}
    names = {**kinds, "Outcome": Outcome, "FigureFormat": FigureFormat}
    hints = typing.get_type_hints(simlab.run, names)
    parameters = inspect.signature(simlab.run).parameters
    assert not [p for p in parameters.values() if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    assert {*parameters, "return"} == set(hints)
    assert Any not in hints.values()
    assert hints["return"] is Outcome


def test_tables_as_toml_has_them() -> None:
    given = {"a": (1, np.float64(2.5)), "b": {"c": np.arange(3), "d": Path("x")}, "e": np.bool_(True)}
    assert plain(given) == {"a": [1, 2.5], "b": {"c": [0, 1, 2], "d": "x"}, "e": True}
    tables = small_tables()
    assert resolve(plain(tables)).hash == resolve(tables).hash


def test_default_directories() -> None:
    assert default_directory("quickstart") == Path("out/quickstart")
    assert default_directory("some/where/mine.toml") == Path("out/mine")
    assert default_directory({"experiment": {"kind": "spectrum"}}) == Path("out/spectrum")
    assert default_directory({"experiment": {"kind": "../../etc"}}) == Path("out/run")


class Notebook:
    """Stands in for IPython: a shell with a kernel, and a display whose content is replaced."""

    def __init__(self) -> None:
        self.kernel = object()
        self.shown: list[list[dict[str, str]]] = []

    def display(self, content: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        contents = [content]
        self.shown.append(contents)

        def update(content: dict[str, str], *, raw: bool) -> None:
            assert raw
            contents.append(content)

        return types.SimpleNamespace(update=update)


def snapshot(done: int) -> Snapshot:
    return Snapshot(4, done, 0, 10.0, 0.5, 3.0, [Running("seed=1", 5.0, 10.0, 2.0)])


def test_progress_in_a_notebook_stays_in_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = Notebook()
    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: book
    module: Any = types.ModuleType("IPython.display")
    module.display = book.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    with Display(quiet=False) as display:
        display(snapshot(1))
        display(snapshot(2))
    (cell,) = book.shown
    assert [content["text/plain"].partition(" points")[0] for content in cell] == ["1/4", "2/4"]
    assert "seed=1: 5/10 steps, 2/s, 0:02 left" in cell[0]["text/plain"]
    assert capsys.readouterr().err == ""
    with Display(quiet=True) as display:
        display(snapshot(3))
    assert len(book.shown) == 1
    ipython.get_ipython = object  # IPython in a terminal has no kernel
    with Display(quiet=False) as display:
        display.last = -1e9
        display(snapshot(3))
    assert len(book.shown) == 1
    assert "3/4 points" in capsys.readouterr().err
