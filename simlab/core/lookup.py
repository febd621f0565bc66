"""Kinds are files: ``kind = "two_layer"`` under ``[network]`` names simlab/networks/two_layer.py.

A kind is a public module of a room that defines `Params`; a module that starts with ``_`` or has no `Params` is a
helper. Where `Params` has fields without a default the module gives `EXAMPLES`, tables that contract tests run and
``simlab show`` prints. Nothing is registered: kinds are found by looking at the files, and a kind's module is imported
when asked for; listing them imports none. Claims are found the same way by the name that every claim defines, `judge`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.sources import PACKAGE

MARKS = {"claims": "judge"}
WITHOUT_KINDS = ("cli", "core", "lab", "record")


def rooms() -> list[str]:
    """The rooms that have kinds."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules([str(PACKAGE)])
        if module.ispkg and module.name not in WITHOUT_KINDS
    )


@functools.cache
def _public(room: str) -> tuple[str, ...]:
    """The public files of a room."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules([str(PACKAGE / room)]) if not m.name.startswith("_")))


@functools.cache  # a sweep looks kinds up at every point: 0.3 ms a point without
def _kinds(room: str) -> tuple[str, ...]:
    # Defined there, not imported; a regular expression finds in 10 ms what takes the parser 400.
    defined = re.compile(rf"^(class|def) {MARKS.get(room, 'Params')}\b", re.MULTILINE)
    return tuple(name for name in _public(room) if defined.search(_text(room, name)))


def _text(room: str, kind: str) -> str:
    folder = PACKAGE / room / kind
    return (folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")).read_text(encoding="utf-8")


def kinds(room: str) -> list[str]:
    """Every kind of a room, by name; imports none of them."""
    return list(_kinds(room))


def first_line(room: str, kind: str) -> str:
    """The first line of a kind's docstring, without importing it."""
    text = _text(room, kind)
    if plain := re.match(r'"""([^"\\\n]+)(\n|""")', text):
        return plain[1].strip()
    return inspect.cleandoc(ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def check(room: str, kind: str, key: str = "kind") -> None:
    """Raise BadInput if there is no such kind; `key` is what the error calls the entry that named it."""
    known = kinds(room)
    if kind not in known:
        raise BadInput(f"{key} = {shown(kind)}: unknown kind{nearest(kind, known)} (allowed: {one_of(known)})")


def get(room: str, kind: str, key: str = "kind") -> ModuleType:
    """The module of one kind; `key` as in `check`."""
    check(room, kind, key)
    return importlib.import_module(f"simlab.{room}.{kind}")


def attributes(package: str, files: bool = True) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a room: ``networks.two_layer`` without an import, and what TAB shows.

    Shown are the names in ``__all__``, or where there is none the room's own functions and classes; and its public
    files, unless `files` is false. A file is imported when first asked for.
    """
    room = package.rpartition(".")[2]

    def get_attribute(name: str) -> Any:
        if name in _public(room):
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}{nearest(name, names())}")

    def names() -> list[str]:
        own = vars(sys.modules[package])
        made = {name for name, value in own.items() if (getattr(value, "__module__", None) or "").startswith(package)}
        shown = set(own.get("__all__", ())) or {name for name in made if not name.startswith("_")}
        return sorted(shown.union(_public(room) if files else ()))

    return get_attribute, names


def examples(room: str, kind: str) -> list[dict[str, Any]]:
    """Tables of fields for this kind, without ``kind`` itself."""
    return list(getattr(get(room, kind), "EXAMPLES", ({},)))


def all_examples(room: str) -> list[tuple[str, dict[str, Any]]]:
    """(kind, table) for every example of every kind of a room."""
    return [(kind, table) for kind in kinds(room) for table in examples(room, kind)]
