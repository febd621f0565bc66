"""The house itself: imports point down, every module says what it is, nothing shipped needs a developer's files."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import simlab
from simlab.core import catalogue
from simlab.core.parsing import dump, parse

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


@pytest.mark.usefixtures("allow_code")
@pytest.mark.parametrize("room", [room for room in catalogue.rooms() if room not in ("claims", "experiments")])
def test_every_kind_has_examples_that_are_right(room: str) -> None:
    for kind, table in catalogue.all_examples(room):
        parsed = parse(catalogue.get(room, kind), table, room)
        assert parse(type(parsed), dump(parsed)) == parsed


def test_versions_agree() -> None:
    assert importlib.metadata.version("simlab") == simlab.__version__
    assert f"version: {simlab.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {simlab.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_rooms_are_reached_from_the_package() -> None:
    assert simlab.networks.get("two_layer", width=3).width == 3
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = simlab.nothing


def test_what_the_package_imports_is_installed_with_it() -> None:
    """Every import of the package is a declared dependency, but for a part of numba's and one that is optional."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[\s<>=!~;\[]", line)[0].replace("-", "_") for line in project["dependencies"]}
    distributions = importlib.metadata.packages_distributions()
    imported: set[str] = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [str(node.module)]
            imported |= {name.partition(".")[0] for name in names}
    others = imported - set(sys.stdlib_module_names) - {"simlab"}
    undeclared = {
        name for name in others if not declared & {of.replace("-", "_") for of in distributions.get(name, [name])}
    }
    assert undeclared == {"llvmlite", "sklearn"}
    assert {"xarray", "h5netcdf", "psutil"} <= declared, "h5netcdf is an engine of xarray's, chosen by its name"
    assert "dask" not in project["optional-dependencies"]
