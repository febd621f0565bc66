"""The specs that come with simlab: by name, in a checkout and in the wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import tomli_w

from simlab.cli.app import app
from simlab.core.errors import BadInput
from simlab.lab import bundled
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "runs").glob("*.toml"))


def test_names_are_those_of_the_files() -> None:
    assert bundled.names() == NAMES
    assert "quickstart" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_head_has_its_four_fields(name: str) -> None:
    spec = bundled.get(name)
    for field in bundled.FIELDS:
        value = getattr(spec, field)
        assert value, field
        assert not any(f"{other.capitalize()}:" in value for other in bundled.FIELDS), "fields run into each other"
    assert spec.text == (ROOT / "runs" / f"{name}.toml").read_text(encoding="utf-8")


def test_a_head_is_read_over_several_lines() -> None:
    text = "# Question: is it\n#           so?\n# Minutes:  two.\n\n# Source: not of the head\n[experiment]\n"
    assert bundled.head(text) == {"question": "is it so?", "expected": "", "source": "", "minutes": "two."}


def test_what_a_name_stands_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert bundled.find("quickstart") == ROOT / "runs" / "quickstart.toml"
    (tmp_path / "decay").mkdir()
    assert bundled.find("decay").parent == ROOT / "runs", "a directory is no spec"
    (tmp_path / "quickstart").write_text("mine")
    assert bundled.find("quickstart") == Path("quickstart"), "a file goes first"
    with pytest.raises(BadInput, match=r'did you mean "lazy_training"\?'):
        bundled.find("lazy_trainig")
    with pytest.raises(BadInput, match=r"^quickstart\.toml: no such file; \"quickstart\" is a bundled spec$"):
        bundled.find("quickstart.toml")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "spec.toml").touch()
    with pytest.raises(BadInput, match="`simlab resume out` goes on with it"):
        bundled.find("out")


def test_list_show_new(tmp_path: Path, simlab_again: Call) -> None:
    listed = json.loads(simlab_again("list", "runs", "--json").stdout)["runs"]
    assert sorted(listed) == NAMES
    assert listed["quickstart"]["minutes"] == "under one on two cores."
    printed = simlab_again("list", "runs").stdout
    assert "quickstart           does a wide two-layer net move less" in printed
    assert max(map(len, printed.splitlines())) <= 100
    assert "quickstart" in json.loads(simlab_again("list", "--json").stdout)["runs"]
    text = (ROOT / "runs" / "quickstart.toml").read_text(encoding="utf-8")
    assert text in simlab_again("show", "quickstart").stdout
    assert json.loads(simlab_again("show", "quickstart", "--json").stdout)["text"] == text
    assert "which degrees" in simlab_again("show", "runs/staircase").stdout
    assert simlab_again("new", "quickstart").stdout == text
    assert sorted(json.loads(simlab_again("new", "--json").stdout)["runs"]) == NAMES
    assert simlab_again("new", "quickstart", "-o", "mine.toml").stdout == "mine.toml\n"
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == text
    (tmp_path / "mine.toml").write_text("precious")
    assert simlab_again("new", "quickstart", "-o", "mine.toml").returncode == 2
    assert (tmp_path / "mine.toml").read_text() == "precious"


def test_the_shell_completes_names() -> None:
    context = click.Context(app)
    for name, argument in (("run", "spec"), ("new", "name")):
        command = app.get_command(context, name)
        assert command is not None
        parameter = next(p for p in command.params if p.name == argument)
        found = [item.value for item in parameter.shell_complete(click.Context(command), "quick")]
        assert "quickstart" in found
        assert "decay" not in found


def test_a_bundled_run_is_that_of_the_file(tmp_path: Path, simlab: Call) -> None:
    """`out/NAME`, and the same spec whichever way it is named."""
    few = ["--set", "sweep.network.width=[16]", "--set", "sweep.seeds=1", "--set", "flow.steps=20", "-q"]
    assert simlab("run", "quickstart", *few).returncode == 0
    again = simlab("run", ROOT / "runs" / "quickstart.toml", "-o", tmp_path / "out" / "quickstart", *few)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "out" / "quickstart" / "figure.png").exists()


def build(source: Path, target: str, place: Path) -> Path:
    """The distribution that hatchling makes of a checkout or an unpacked sdist."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(place)],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    (made,) = place.iterdir()
    return made


def test_the_wheel_holds_them_and_runs_them_anywhere(tmp_path: Path) -> None:
    """checkout -> sdist -> wheel, unpacked, used from an empty directory."""
    with tarfile.open(build(ROOT, "sdist", tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    with zipfile.ZipFile(build(source, "wheel", tmp_path / "wheel")) as archive:
        held = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert sorted(Path(name).stem for name in held if name.startswith("simlab/runs/")) == NAMES
    assert not [name for name in held if name.startswith("runs/")], "one copy"
    empty = tmp_path / "empty"
    empty.mkdir()

    def call(*arguments: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(
            [sys.executable, "-m", "simlab", *arguments],
            capture_output=True, text=True, cwd=empty, env=env, check=True, timeout=300,
        )  # fmt: skip
        return done.stdout

    path = Path(json.loads(call("show", "quickstart", "--json"))["path"])
    assert path == tmp_path / "site" / "simlab" / "runs" / "quickstart.toml", "the unpacked wheel is what runs"
    assert sorted(json.loads(call("list", "runs", "--json"))["runs"]) == NAMES
    assert "experiment" in tomllib.loads(call("new", "quickstart"))
    assert "15 points" in call("run", "quickstart", "--dry-run")
    assert not list(empty.iterdir())


def test_a_spec_without_a_suffix_is_a_file(tmp_path: Path, simlab_again: Call) -> None:
    (tmp_path / "mine").write_text(tomli_w.dumps(small_tables()))
    assert simlab_again("run", "mine", "--dry-run").returncode == 0
