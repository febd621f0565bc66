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


def examples(room: str, kind: str) -> list[dict[str, Any]]:
    """Tables of fields for this kind, without ``kind`` itself."""
    return list(getattr(get(room, kind), "EXAMPLES", ({},)))


def all_examples(room: str) -> list[tuple[str, dict[str, Any]]]:
    """(kind, table) for every example of every kind of a room."""
    return [(kind, table) for kind in kinds(room) for table in examples(room, kind)]
