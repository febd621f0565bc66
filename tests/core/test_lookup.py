"""Kinds are found from their files alone, the same ones as by importing them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

from simlab.core import lookup
from simlab.core.errors import BadInput


@pytest.mark.parametrize("room", lookup.rooms())
def test_the_files_tell_the_same_kinds_as_the_modules(room: str) -> None:
    package = importlib.import_module(f"simlab.{room}")
    mark, found = {"claims": "judge"}.get(room, "Params"), {}
    for entry in pkgutil.iter_modules(package.__path__):
        if not entry.name.startswith("_"):
            module = importlib.import_module(f"simlab.{room}.{entry.name}")
            if getattr(getattr(module, mark, None), "__module__", None) == module.__name__:
                found[entry.name] = (inspect.getdoc(module) or "").partition("\n")[0]
    assert {kind: lookup.first_line(room, kind) for kind in lookup.kinds(room)} == found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"""One line."""\n', "One line."),
        ('"""One line.\n\nMore."""\n', "One line."),
        ("'''With \"\"\" in it.'''\n", 'With """ in it.'),
        ('r"""Raw \\d."""\n', "Raw \\d."),
        ('"""An escape \\u03c6"""\n', "An escape φ"),
        ('# first a comment\n"""Then a line."""\n', "Then a line."),
        ('"""\nBelow.\n"""\n', "Below."),
        ("x = 1\n", ""),
    ],
)
def test_first_lines_of_any_docstring(text: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "planted.py").write_text(text)
    monkeypatch.setattr(lookup, "PACKAGE", tmp_path)
    assert lookup.first_line("networks", "planted") == line


def test_a_kind_defines_its_params_at_the_top_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room_of_its_own"
    room.mkdir()
    for name, text in {
        "kind": "class Params(Base):\n    pass\n",
        "imports": "from simlab.core.params import Params\n",
        "inside": "def make():\n    class Params(Base):\n        pass\n",
        "speaks": '"""Not: class Params."""\n',
        "longer": "class ParamsOfMine(Base):\n    pass\n",
        "_helper": "class Params(Base):\n    pass\n",
    }.items():
        (room / f"{name}.py").write_text(text)
    monkeypatch.setattr(lookup, "PACKAGE", tmp_path)
    assert lookup.kinds("room_of_its_own") == ["kind"]


def test_a_helper_is_no_kind() -> None:
    with pytest.raises(BadInput, match="unknown kind"):
        lookup.get("networks", "_thin")
