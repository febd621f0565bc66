"""Kinds are files: ``kind = "two_layer"`` under ``[network]`` names simlab/networks/two_layer.py.

A kind is a public module of a room that defines `Params`; a module that starts with ``_`` or has no `Params` is a
helper. Where `Params` has fields without a default the module gives `EXAMPLES`, tables that contract tests run and
``simlab show`` prints. Nothing is registered: modules are found with pkgutil and imported when asked for. Claims are
found the same way by the name that every claim defines, `judge`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from simlab.core.errors import BadInput, nearest, one_of

MARKS = {"claims": "judge"}
WITHOUT_KINDS = ("cli", "core", "lab", "record")


def rooms() -> list[str]:
    """The rooms that have kinds."""
    package = importlib.import_module("simlab")
    return sorted(
        module.name
        for module in pkgutil.iter_modules(package.__path__)
        if module.ispkg and module.name not in WITHOUT_KINDS
    )


@functools.cache  # a sweep looks kinds up at every point: 0.3 ms a point without
def _public(room: str) -> tuple[str, ...]:
    package = importlib.import_module(f"simlab.{room}")
    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")))


def _is_kind(room: str, module: ModuleType) -> bool:
    mark = getattr(module, MARKS.get(room, "Params"), None)
    return mark is not None and mark.__module__ == module.__name__  # defined there, not imported


def kinds(room: str) -> list[str]:
    """Every kind of a room, by name."""
    return [n for n in _public(room) if _is_kind(room, importlib.import_module(f"simlab.{room}.{n}"))]


def get(room: str, kind: str, key: str = "kind") -> ModuleType:
    """The module of one kind; `key` is what the error calls the entry that named it."""
    if kind in _public(room):
        module = importlib.import_module(f"simlab.{room}.{kind}")
        if _is_kind(room, module):
            return module
    known = kinds(room)
    raise BadInput(f"{key} = {kind!r}: unknown kind{nearest(kind, known)} (allowed: {one_of(known)})")


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
