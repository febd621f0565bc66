"""A spec is data: what it names as "module:name" is imported only where the user allows it.

The module that these specs name leaves a file when it is imported, in whatever process.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simlab as package
from simlab import activations
from simlab.core import foreign_code, rng
from simlab.core.errors import BadInput, SimlabError
from simlab.kernels import ntk
from tests.support.runs import datasets, small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
PLANTED = """
import math, os, pathlib
pathlib.Path(os.environ["MARK"]).write_text("run")
def phi(z):
    return math.tanh(z)
"""
CUSTOM = {"kind": "custom", "phi": "planted_module:phi"}


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that tells that the planted module was imported; it can be, from PYTHONPATH."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "planted_module.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    monkeypatch.delitem(sys.modules, "planted_module", raising=False)
    return tmp_path / "mark"


def tables(**sweep: Any) -> dict[str, Any]:
    found = small_tables(**sweep)
    found["network"] = {"kind": "two_layer", "width": 5, "activation": CUSTOM}
    return found


def refused(done: subprocess.CompletedProcess[str], key: str = "network.activation.phi") -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert f"{key} = 'planted_module:phi': would import and run code" in done.stderr
    assert "--allow-code" in done.stderr
    assert "SIMLAB_ALLOW_CODE=1" in done.stderr


def test_a_spec_that_names_code_is_refused_before_it_is_imported(simlab: Call, write_spec: Any, mark: Path) -> None:
    refused(simlab("run", write_spec(tables()), "-o", "out"))
    refused(simlab("run", write_spec(tables()), "--dry-run"))
    setting = "network.activation.phi='planted_module:phi'"
    plain = small_tables()
    plain["network"]["activation"] = {"kind": "custom", "phi": "planted_module:phi"}
    refused(simlab("run", write_spec(plain), "--set", setting, "--dry-run", env={"SIMLAB_ALLOW_CODE": "0"}))
    plain["network"]["activation"] = "relu"
    plain["sweep"] = {"network.activation": ["relu", "erf", CUSTOM]}
    done = simlab("run", write_spec(plain), "--dry-run")
    assert done.returncode == 2
    assert "would import and run code" in done.stderr
    assert not mark.exists()
    assert not (mark.parent / "out").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("kernel", "nngp", "--depth", "2"),
        ("spectrum", "ntk", "--depth", "2", "--dim", "3", "--max-degree", "2"),
        ("gram", "nngp", "X.npy", "--depth", "2", "-o", "K.h5"),
    ],
)
def test_a_kernel_that_names_code_is_refused(simlab: Call, command: tuple[str, ...], mark: Path) -> None:
    np.save(mark.parent / "X.npy", np.eye(3))
    named = ("--activation", "custom", "--set", "activation.phi=planted_module:phi")
    refused(simlab(*command, *named), f"{command[1]}.activation.phi")
    assert not mark.exists()
    assert simlab(*command, *named, "--allow-code").returncode == 0
    assert mark.exists()


def test_allowed_it_runs_and_reading_the_run_later_needs_no_leave(simlab: Call, write_spec: Any, mark: Path) -> None:
    spec, out = write_spec(tables(seeds=2)), mark.parent / "out"
    done = simlab("run", spec, "-o", "out", "--allow-code", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert mark.exists()
    known = small_tables(seeds=2)
    known["network"] = {"kind": "two_layer", "width": 5, "activation": "tanh"}
    assert simlab("run", write_spec(known, "known.toml"), "-o", "known", "--workers", "1").returncode == 0
    ours, theirs = datasets(out / "results.h5"), datasets(mark.parent / "known" / "results.h5")
    ours, theirs = (np.frombuffer(found["train_loss"]) for found in (ours, theirs))
    assert ours == pytest.approx(theirs, rel=1e-6), "φ is tanh"

    mark.unlink()
    assert "2 of 2 points finished" in simlab("status", "out").stdout
    assert simlab("status", "out", "--json").returncode == 0
    assert "planted_module:phi" in simlab("show", "out", "--whole").stdout
    before = datasets(out / "results.h5")
    (out / "results.h5").unlink()
    assert "planted_module:phi" in simlab("show", "out", "--whole").stdout
    assert simlab("collate", "out").returncode == 0, "the worker that collates computes nothing"
    assert datasets(out / "results.h5") == before
    refused(simlab("resume", "out"))
    done = simlab("run", spec, "-o", "out")
    refused(done)
    assert not mark.exists()
    assert simlab("resume", "out", env={"SIMLAB_ALLOW_CODE": "yes"}).returncode == 0
    assert mark.exists()


def test_what_goes_on_with_a_stopped_run_allows_code_too(
    monkeypatch: pytest.MonkeyPatch, mark: Path, tmp_path: Path
) -> None:
    from simlab.cli import _hint, running
    from simlab.lab.run import Outcome
    from simlab.lab.spec import resolve

    monkeypatch.setattr(
        running, "run_spec", lambda spec, place, options, **_: Outcome(place, place / "r", None, 0, 1, {})
    )
    monkeypatch.setenv("SIMLAB_ALLOW_CODE", "1")
    running.complete(resolve(tables()), tmp_path, quiet=True)
    assert f"simlab resume {tmp_path} --allow-code" in _hint.how_to_go_on()
    running.complete(resolve(small_tables()), tmp_path, quiet=True)
    assert "--allow-code" not in _hint.how_to_go_on(), "this run names none"
    _hint.forget()


def test_a_word_in_the_environment_that_means_nothing_is_said(simlab_again: Call, monkeypatch: Any) -> None:
    for word, means in (("1", True), (" Yes ", True), ("TRUE", True), ("on", True), ("", False), ("no", False)):
        monkeypatch.setenv("SIMLAB_ALLOW_CODE", word)
        assert foreign_code.is_allowed() is means
    for word in ("maybe", "2", "1;", "y" * 10_000):
        monkeypatch.setenv("SIMLAB_ALLOW_CODE", word)
        with pytest.raises(BadInput, match=r"SIMLAB_ALLOW_CODE = .*unknown .allowed: 1, true") as refusal:
            foreign_code.is_allowed()
        assert len(str(refusal.value)) < 480


def test_the_word_is_said_also_where_no_code_is_named(simlab: Call) -> None:
    done = simlab("kernel", "ntk", "--depth", "2", env={"SIMLAB_ALLOW_CODE": "maybe"})
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "SIMLAB_ALLOW_CODE = 'maybe': unknown" in done.stderr


def test_from_python_text_needs_leave_and_functions_do_not(mark: Path, tmp_path: Path) -> None:
    for make in (
        lambda: activations.custom("planted_module:phi"),
        lambda: activations.custom(np.tanh, dphi="planted_module:phi"),
        lambda: activations.get("custom", phi="planted_module:phi"),
        lambda: ntk(2, CUSTOM),
        lambda: package.run(tables(), tmp_path / "out", quiet=True),
    ):
        with pytest.raises(BadInput, match="would import and run code"):
            make()
    assert not mark.exists()
    assert activations.custom(np.tanh).phi is np.tanh
    done = package.run(tables(), tmp_path / "out", quiet=True, workers=1, allow_code=True)
    assert not done.failed
    assert mark.exists()
    assert "SIMLAB_ALLOW_CODE" not in os.environ, "allowed for this call only"


@pytest.mark.parametrize(
    ("phi", "says"),
    [
        ("absent_module:f", "a module of your own must be installed or on PYTHONPATH"),
        ("..planted_module:phi", 'must be "module:name"'),
        ("planted_module:phi:more", 'must be "module:name"'),
        ("planted module:phi", 'must be "module:name"'),
        (":phi", 'must be "module:name"'),
        ("planted_module:", 'must be "module:name"'),
        ("fails:f", "cannot be imported .ZeroDivisionError"),
        ("leaves:f", "cannot be imported .SystemExit"),
    ],
)
def test_what_cannot_be_imported_is_one_line(phi: str, says: str, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (mark.parent / "modules" / "fails.py").write_text("1 / 0")
    (mark.parent / "modules" / "leaves.py").write_text("raise SystemExit(0)")
    monkeypatch.setenv("SIMLAB_ALLOW_CODE", "1")
    with pytest.raises(BadInput, match=says) as refusal:
        activations.get("custom", phi=phi)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "kind", ["os", "_thin", "../experiments/rivals", "simlab.core.rng", "two_layer.py", "", "..", "a" * 900]
)
@pytest.mark.parametrize("key", ["experiment", "network", "figure"])
def test_a_kind_is_a_name_out_of_a_list(key: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else stands there is not even looked for."""
    from simlab.cli.running import figure_of
    from simlab.lab.spec import resolve

    given = {**small_tables(), "figure": {"kind": "trajectories", "y": ["train_loss"]}}
    figure_of(resolve(given))
    given[key] = {**given[key], "kind": kind}
    asked: list[str] = []
    real = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", lambda name, *rest: (asked.append(name), real(name, *rest))[1])
    with pytest.raises(BadInput, match=f"{key}.kind = .*unknown kind") as refusal:
        figure_of(resolve(given))
    assert len(str(refusal.value)) < 500
    assert not [name for name in asked if not name.startswith("simlab.") or name.endswith(f".{kind}")]


def test_a_checkpoint_names_no_code_but_a_generator() -> None:
    text = rng.dump_generator(np.random.Generator(np.random.Philox(3)))
    assert rng.dump_generator(rng.load_generator(text)) == text
    for name in ("seed", "test", "default_rng", "RandomState", "absent", "__class__"):
        with pytest.raises(SimlabError, match=f"bit_generator = '{name}': no generator"):
            rng.load_generator(text.replace("Philox", name))


# Not those that `python -m` itself imports before any of ours, such as contextlib: nobody can help that.
SHADOWS = ("click", "numpy", "numba", "h5py", "secrets", "tomllib", "pathlib", "pkgutil", "typing", "rich")


def test_no_file_of_the_current_directory_stands_in_for_a_module(simlab: Call, write_spec: Any, tmp_path: Path) -> None:
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'seen')!r}, 'a').write({name!r} + ' ')\n")
    spec = write_spec(small_tables(seeds=1))
    for safe in ({}, {"PYTHONSAFEPATH": "1"}):
        for arguments in (("--version",), ("list",), ("run", spec, "--dry-run"), ("guide", "mathematics")):
            done = simlab(*arguments, env=safe)
            assert done.returncode == 0, done.stderr
    assert not (tmp_path / "seen").exists(), (tmp_path / "seen").read_text()
    subprocess.run([sys.executable, "-c", "import secrets"], cwd=tmp_path, check=False, capture_output=True)
    assert "secrets" in (tmp_path / "seen").read_text(), "the files do what they are there for"


def test_it_starts_where_the_current_directory_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && {sys.executable} -m simlab --version"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_reads_keeps_text_as_text_and_leaves_nothing_behind() -> None:
    before = dict(os.environ)
    with foreign_code.reading():
        assert foreign_code.is_unread("numpy:tanh")
    with foreign_code.allowing():
        assert foreign_code.is_allowed()
    assert not foreign_code.is_unread("numpy:tanh")
    assert dict(os.environ) == before
