"""The spec of a run directory: not checked again where its hash is right, refused where it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.lab import covering
from simlab.lab.directory import RunDirectory
from simlab.lab.spec import Spec, resolve


@pytest.fixture
def run(tmp_path: Path) -> tuple[RunDirectory, Spec]:
    tables = catalogue.examples("experiments", "gradient_flow")[0]
    sweep = {"flow.alpha": {"linspace": [1, 2, 3000]}, "network.width": [5, 6.0], "seeds": 2}
    spec = resolve({**tables, "sweep": sweep, "figure": {"kind": "trajectories", "y": ["train_loss"]}}, seed=3)
    directory = RunDirectory(tmp_path / "run")
    directory.path.mkdir()
    directory.begin(spec, overwrite=False)
    return directory, spec


@pytest.mark.parametrize("computes", [True, False])
def test_it_is_the_same_and_no_axis_is_checked(
    run: tuple[RunDirectory, Spec], computes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, spec = run
    called: list[Any] = []
    monkeypatch.setattr(covering, "check", lambda *args: called.append(args))
    found = directory.read_spec(computes=computes)
    assert not called
    assert (found.hash, found.text, found.figure, found.given) == (spec.hash, spec.text, spec.figure, spec.given)
    assert found == spec


@pytest.mark.parametrize("computes", [True, False])
@pytest.mark.parametrize(("old", "new"), [("1.0,", "1.5,"), ("seed = 3", "seed = 4"), ("sha256 ", "sha256 0")])
def test_an_edited_one_is_refused(run: tuple[RunDirectory, Spec], computes: bool, old: str, new: str) -> None:
    directory, _ = run
    text = directory.spec_path.read_text()
    assert old in text
    directory.spec_path.write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput, match=r"not as simlab wrote it|twice"):
        directory.read_spec(computes=computes)


def test_a_wrong_value_in_an_edited_one_is_named(run: tuple[RunDirectory, Spec]) -> None:
    directory, spec = run
    text = directory.spec_path.read_text()
    directory.spec_path.write_text(text.replace(f"    {spec.sweep.axes['flow.alpha'][1234]!r},\n", "    -7.25,\n", 1))
    for computes in (True, False):
        with pytest.raises(BadInput, match=r"flow\.alpha = -7\.25"):
            directory.read_spec(computes=computes)


def test_status_imports_neither_matplotlib_nor_numba(run: tuple[RunDirectory, Spec]) -> None:
    directory, spec = run
    code = (
        "import sys; from simlab.cli.app import app\n"
        f"app.main(['status', '--json', {str(directory.path)!r}], standalone_mode=False)\n"
        "print([name for name in ('matplotlib', 'numba', 'simlab.experiments.gradient_flow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    text, _, imported = done.stdout.strip().rpartition("\n")
    assert imported == "[]"
    assert json.loads(text)["points"] == spec.sweep.points == 12_000
