"""The house itself: imports point down, every module says what it is, nothing shipped needs a developer's files."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import simlab
from simlab.core import lookup
from simlab.core.params import dump, parse

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "simlab").rglob("*.py"))


def test_imports_only_point_down(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout


def test_an_import_that_points_up_is_noticed(tmp_path: Path) -> None:
    """The contract can say no: a copy of the house with one bad import."""
    import shutil

    shutil.copytree(ROOT / "simlab", tmp_path / "simlab", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    bad = tmp_path / "simlab" / "core" / "errors.py"
    bad.write_text(bad.read_text() + "\nimport simlab.lab.run\n")
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "simlab.core is not allowed to import simlab.lab" in done.stdout


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path: Path) -> None:
    text = path.read_text()
    assert path.name == "__main__.py" or ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 350, "is it still one idea?"
    assert "shared/" not in text, "nothing shipped may need a developer's files"


@pytest.mark.parametrize("room", [room for room in lookup.rooms() if room not in ("claims", "experiments")])
def test_every_kind_has_examples_that_are_right(room: str) -> None:
    for kind, table in lookup.all_examples(room):
        parsed = parse(lookup.get(room, kind).Params, table, room)
        assert parse(type(parsed), dump(parsed)) == parsed


def test_versions_agree() -> None:
    assert importlib.metadata.version("simlab") == simlab.__version__
    assert f"version: {simlab.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {simlab.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_rooms_are_reached_from_the_package() -> None:
    assert simlab.networks.get("two_layer", width=3).width == 3
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = simlab.nothing
