"""New kinds, added in both ways: by a package beside simlab, and by files dropped into a copy of simlab.

A package is installed into a folder as an installer would: files, and a .dist-info that names the kinds. No network
and no build tool is needed, so that it works on any machine. The folder is put on PYTHONPATH, which spawned workers
inherit.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "example_package"


def kinds_of(project: Path) -> dict[str, str]:
    """Room → the one kind that a project adds to it."""
    return {group.removeprefix("simlab."): kind for group, (kind,) in _about(project)["entry-points"].items()}


def _about(project: Path) -> dict[str, Any]:
    about: dict[str, Any] = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return about


def drop_in(project: Path, place: Path) -> dict[str, str]:
    """Copy simlab into a folder, each kind of the project as one file more in its room; returns the environment."""
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("simlab", "runs", "tests"):
        shutil.copytree(ROOT / name, place / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff"):
        shutil.copy(ROOT / name, place)
    for room, kind in kinds_of(project).items():
        (file,) = project.glob(f"*/{kind}.py")
        shutil.copy(file, place / "simlab" / room)
    return _found_in(place)


def install(project: Path, place: Path) -> dict[str, str]:
    """Install a project into a folder; returns the environment in which Python finds it."""
    about = _about(project)
    for folder in (path for path in project.iterdir() if (path / "__init__.py").exists()):
        shutil.copytree(folder, place / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    return write_metadata(place, about["name"], about["version"], about["entry-points"])


def write_metadata(
    place: Path, name: str, version: str, entry_points: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Write the .dist-info of a package whose files are there; returns the environment in which Python finds it."""
    folder = place / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    sections = [
        f"[{group}]\n" + "".join(f"{kind} = {value}\n" for kind, value in points.items())
        for group, points in entry_points.items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(sections))
    return _found_in(place)


def _found_in(place: Path) -> dict[str, str]:
    """The environment in which Python looks into this folder first."""
    before = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(place), before]))}
