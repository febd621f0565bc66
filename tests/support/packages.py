"""Packages beside simlab, installed into a folder as an installer would: files, and a .dist-info that names the kinds.

No network and no build tool is needed, so that it works on any machine. The folder is put on PYTHONPATH, which spawned
workers inherit.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "example_package"


def install(project: Path, place: Path) -> dict[str, str]:
    """Install a project into a folder; returns the environment in which Python finds it."""
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
    before = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(place), before]))}
