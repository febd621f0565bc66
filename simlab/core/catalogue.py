"""The catalogue of kinds: which there are, and where. ``kind = "two_layer"`` is `simlab.networks.TwoLayer`.

Nothing is registered. simlab's own kinds are found by looking at the files: ``class TwoLayer(…)`` in
simlab/networks/two_layer.py is the kind ``two_layer`` of the room ``networks``. Other packages add kinds by entry
points of the group ``simlab.<room>``, named as the kind::

    [project.entry-points."simlab.activations"]
    swish = "my_package.swish:Swish"

A kind is imported when it is asked for. Listing names imports none, and nothing heavy: not even pydantic.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable
from typing import Any

from simlab.core import sources
from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.sources import PACKAGE

ROOMS = {
    "activations": "activation",
    "claims": "claim",
    "data": "law",
    "experiments": "experiment",
    "figures": "figure",
    "flows": "flow",
    "kernels": "kernel",
    "networks": "network",
    "observables": "observable",
    "targets": "target",
}
"""Rooms that have kinds → the file, and in capitals the class, of the room's contract."""


def plain(name: str) -> str:
    """A name in small letters without underscores: that of a kind's file and that of its class are the same."""
    return name.replace("_", "").lower()


def rooms() -> list[str]:
    """The rooms that have kinds."""
    return [room for room in ROOMS if (PACKAGE / room).is_dir()]


@functools.cache
def public_files(room: str) -> tuple[str, ...]:
    """The public files and folders of a room, by name."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules([str(PACKAGE / room)]) if not m.name.startswith("_")))


@functools.cache  # a sweep looks kinds up at every point: 0.3 ms per point without
def _own(room: str) -> tuple[str, ...]:
    """The kinds of a room that simlab itself defines."""
    contract = ROOMS[room]
    return tuple(name for name in public_files(room) if name != contract and _class_name(room, name))


@functools.cache
def _class_name(room: str, name: str) -> str | None:
    """The name of the class that a file of this name defines for its kind; None where the file defines none."""
    # A regular expression finds in 10 ms what takes the parser 400.
    defined: list[str] = re.findall(r"^class (\w+)\(", _text(room, name), re.MULTILINE)
    return next((found for found in defined if plain(found) == plain(name)), None)


@functools.cache
def added(room: str) -> dict[str, importlib.metadata.EntryPoint]:
    """The kinds that other packages add to a room, by name. One of simlab's own is never replaced."""
    points = [point for point in sources.entry_points() if point.group == f"simlab.{room}"]
    return {point.name: point for point in sorted(points, key=lambda p: p.value) if point.name not in _own(room)}


def _text(room: str, kind: str) -> str:
    folder = PACKAGE / room / kind
    return (folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")).read_text(encoding="utf-8")


def names(room: str) -> list[str]:
    """Every kind of a room, by name; imports none of them."""
    return sorted([*_own(room), *added(room)])


def first_line(room: str, kind: str) -> str:
    """The first line of the docstring of a kind's file.

    A kind of another package is imported for it; where that fails the line says so.
    """
    if kind in added(room):
        try:
            return document(room, kind).partition("\n")[0]
        except BadInput as error:
            return f"broken: {error}"
    text = _text(room, kind)
    if one_line := re.match(r'"""([^"\\\n]+)(\n|""")', text):
        return one_line[1].strip()
    return inspect.cleandoc(ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def document(room: str, kind: str) -> str:
    """The docstring of a kind's file, or where that has none of its class."""
    found = get(room, kind)
    return inspect.cleandoc(sys.modules[found.__module__].__doc__ or found.__doc__ or "")


def check_name(room: str, kind: str, key: str = "kind") -> None:
    """Raise BadInput if there is no such kind; `key` is what the error calls the entry that named it."""
    known = names(room)
    if kind not in known:
        raise BadInput(f"{key} = {shown(kind)}: unknown kind{nearest(kind, known)} (allowed: {one_of(known)})")


def get(room: str, kind: str, key: str = "kind") -> type[Any]:
    """The class of one kind; `key` as in `check_name`. Raises BadInput where there is none, or where it is no kind."""
    check_name(room, kind, key)
    if kind in added(room):
        return _load(room, added(room)[kind])
    module = importlib.import_module(f"simlab.{room}.{kind}")
    found: type[Any] = getattr(module, str(_class_name(room, kind)))
    return found


def contract(room: str) -> type[Any]:
    """The class that every kind of a room is a subclass of."""
    file = ROOMS[room]
    found: type[Any] = getattr(importlib.import_module(f"simlab.{room}.{file}"), file.capitalize())
    return found


@functools.cache
def _load(room: str, point: importlib.metadata.EntryPoint) -> type[Any]:
    where = f"entry point simlab.{room} {point.name!r} = {point.value!r}"
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # whatever another package does when it is imported
        raise BadInput(f"{where}: cannot be imported ({type(error).__name__}: {error})") from None
    if not (isinstance(found, type) and issubclass(found, contract(room))):
        raise BadInput(f"{where}: must be a subclass of simlab.{room}.{contract(room).__name__}")
    if found.kind != point.name:
        raise BadInput(f"{where}: the kind is called {found.kind!r}; the entry point must be named so too")
    if missing := sorted(found.__abstractmethods__):
        raise BadInput(f"{where}: does not define {one_of(missing)}")
    return found


def loaded(room: str) -> dict[str, type[Any]]:
    """Name → class of every kind of a room. Imports them all; broken ones of other packages are left out."""
    found = {}
    for kind in names(room):
        with contextlib.suppress(*(BadInput,) if kind in added(room) else ()):
            found[kind] = get(room, kind)
    return found


def able(room: str, wanted: Callable[[type[Any]], bool] | type) -> list[str]:
    """The kinds of a room that are subclasses of a contract, or whose class fulfils a condition. Imports them all."""
    fits = (lambda cls: issubclass(cls, wanted)) if isinstance(wanted, type) else wanted
    return [kind for kind, cls in loaded(room).items() if fits(cls)]


def all_examples(room: str) -> list[tuple[str, dict[str, Any]]]:
    """(kind, table) for every example of every kind of a room."""
    return [(kind, table) for kind in loaded(room) for table in examples(room, kind)]


def examples(room: str, kind: str) -> list[dict[str, Any]]:
    """The tables of fields that a kind gives as examples; whole specs of an experiment."""
    return list(get(room, kind).examples)


def attributes(package: str, files: bool = True) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a room: `networks.TwoLayer` without an import, and what TAB shows.

    Shown are the names in ``__all__``, or where there is none the room's own functions and classes; and, unless `files`
    is false, its public files and kinds. A file is imported when first asked for. A capital makes the difference:
    `networks.TwoLayer` is the class, `networks.two_layer` the file.
    """
    room = package.rpartition(".")[2]

    def class_of(name: str) -> Any:
        for kind in names(room) if room in ROOMS and name[:1].isupper() else ():
            if plain(kind) == plain(name):
                return get(room, kind)
        return None

    def get_attribute(name: str) -> Any:
        if name in public_files(room):
            return importlib.import_module(f"{package}.{name}")
        if (found := class_of(name)) is not None:
            return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}{nearest(name, shown_names())}")

    def shown_names() -> list[str]:
        own = vars(sys.modules[package])
        mine = {name for name, value in own.items() if (getattr(value, "__module__", None) or "").startswith(package)}
        listed = set(own.get("__all__", ())) or {name for name in mine if not name.startswith("_")}
        if files:
            listed.update(public_files(room))
        if files and room in ROOMS:
            listed.update(name for kind in _own(room) if (name := _class_name(room, kind)))
        return sorted(listed)

    return get_attribute, shown_names
