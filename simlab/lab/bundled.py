"""The specs that come with simlab: ``runs/*.toml`` of a checkout, ``simlab/runs`` in an installed wheel.

Each begins with a comment that holds four fields: ``# Question:``, ``# Expected:``, ``# Source:``, ``# Minutes:``. A
field goes on in the comment lines below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from simlab.core.errors import BadInput, nearest, one_of, shown

FIELDS = ("question", "expected", "source", "minutes")
_PACKAGE = Path(__file__).resolve().parents[1]
_FIELD = re.compile(r"^(Question|Expected|Source|Minutes):\s*(.*)$")


@dataclass(frozen=True)
class Bundled:
    """One bundled spec.

    name: name of the file, without .toml.
    path: the file.
    question, expected, source, minutes: fields of its head comment.
    """

    name: str
    path: Path
    question: str
    expected: str
    source: str
    minutes: str

    @property
    def text(self) -> str:
        """The TOML text, comments included."""
        return self.path.read_text(encoding="utf-8")


def directory() -> Path | None:
    """Where the specs lie; None where simlab was installed without them."""
    if (_PACKAGE / "runs").is_dir():
        return _PACKAGE / "runs"
    checkout = _PACKAGE.parent
    return checkout / "runs" if (checkout / "pyproject.toml").is_file() and (checkout / "runs").is_dir() else None


def names() -> list[str]:
    """The name of every bundled spec."""
    home = directory()
    return sorted(path.stem for path in home.glob("*.toml")) if home else []


def get(name: str) -> Bundled:
    """The bundled spec of this name."""
    home = directory()
    if home is None:
        raise BadInput("simlab was installed without its specs")
    if name not in names():
        raise BadInput(
            f"{shown(name)}: no bundled spec of that name{nearest(name, names())} (allowed: {one_of(names())})"
        )
    path = home / f"{name}.toml"
    return Bundled(name, path, **head(path.read_text(encoding="utf-8")))


def head(text: str) -> dict[str, str]:
    """The fields of a spec's head comment, each on one line; "" for one that is not there."""
    found = dict.fromkeys(FIELDS, "")
    field = ""
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        inside = line.lstrip("#").strip()
        if begins := _FIELD.match(inside):
            field, inside = begins[1].lower(), begins[2]
        if field:
            found[field] = f"{found[field]} {inside}".strip()
    return found


def find(spec: str | Path) -> Path:
    """The file of a spec that is named by its path or, bundled, by its name.

    A file that exists is taken before a bundled spec of the same name. What ends in .toml or holds a slash is a path.
    """
    path, name = Path(spec), str(spec)
    if path.is_file():
        return path
    known = names()
    if name in known:
        return get(name).path
    if path.is_dir():
        hint = f"; `simlab resume {path}` goes on with it" if (path / "spec.toml").is_file() else ""
        raise BadInput(f"{path}: is a directory; give a TOML file or a bundled spec{hint}")
    if path.suffix == ".toml" or path.name != name:
        hint = f'; "{path.stem}" is a bundled spec' if path.stem in known else ""
        raise BadInput(f"{path}: no such file{hint}") if not path.exists() else BadInput(f"{path}: is not a file")
    raise BadInput(
        f"{name}: neither a file nor a bundled spec{nearest(name, known)} (`simlab list runs` lists the bundled ones)"
    )
