"""The catalogue of kinds: which kinds a room has, and how to get their classes by name.

Kinds are found in two ways; there is no list to edit:

- simlab's own by their files: ``class TwoLayer(…)`` in simlab/networks/two_layer.py is the kind ``two_layer`` of the
  room ``networks``. A file that defines no class of its own name, and one whose name starts with an underscore, is a
  helper and no kind.
- those of other packages by entry points of the group ``simlab.<room>``, in the package's pyproject.toml::

      [project.entry-points."simlab.activations"]
      swish = "my_package.swish:Swish"

A kind is imported when it is asked for (`get`). Listing names imports no kind and nothing heavy, not even pydantic, so
that ``simlab list`` and shell completion are fast.
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
    "losses": "loss",
    "networks": "network",
    "observables": "observable",
    "targets": "target",
}
"""Room → name of the file with its contract. The contract's class has the same name with a capital (`Activation`)."""


def plain(name: str) -> str:
    """``TwoLayer`` and ``two_layer`` → ``twolayer``: the same for a kind's class and for its file."""
    return name.replace("_", "").lower()


def rooms() -> list[str]:
    """The rooms that have kinds."""
    return [room for room in ROOMS if (PACKAGE / room).is_dir()]


@functools.cache
def public_files(room: str) -> tuple[str, ...]:
    """Names of the public files and folders of a room, in alphabetical order."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules([str(PACKAGE / room)]) if not m.name.startswith("_")))


@functools.cache  # a sweep looks kinds up at every point, which would take 0.3 ms per point
def _own(room: str) -> tuple[str, ...]:
    """Names of the kinds of a room that simlab itself defines."""
    return tuple(name for name in public_files(room) if name != ROOMS[room] and _class_name(room, name))


@functools.cache
def _class_name(room: str, name: str) -> str | None:
    """Name of the class of the kind in this file, the one that is named like the file; None where there is none."""
    # Found by a regular expression: 10 ms for all rooms, and 400 ms by Python's parser.
    defined: list[str] = re.findall(r"^class (\w+)\(", _text(room, name), re.MULTILINE)
    return next((found for found in defined if plain(found) == plain(name)), None)


@functools.cache
def added(room: str) -> dict[str, importlib.metadata.EntryPoint]:
    """Name → entry point of the kinds that other packages add to a room. simlab's own kinds cannot be replaced."""
    points = [point for point in sources.entry_points() if point.group == f"simlab.{room}"]
    return {point.name: point for point in sorted(points, key=lambda p: p.value) if point.name not in _own(room)}


def _text(room: str, kind: str) -> str:
    """The text of the file, or of the folder's __init__.py, that defines a kind of simlab's own."""
    folder = PACKAGE / room / kind
    return (folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")).read_text(encoding="utf-8")


def names(room: str) -> list[str]:
    """Names of all kinds of a room. Imports none of them."""
    return sorted([*_own(room), *added(room)])


def first_line(room: str, kind: str) -> str:
    """The first line of the docstring of a kind's file.

    For a kind of another package the kind is imported; where that fails, the line says so.
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
    """The docstring of a kind's file; where the file has none, that of its class."""
    found = get(room, kind)
    return inspect.cleandoc(sys.modules[found.__module__].__doc__ or found.__doc__ or "")


def check_name(room: str, kind: str, key: str = "kind") -> None:
    """Raise BadInput if the room has no such kind.

    key: how the error names the entry that asked for the kind, such as "network.kind".
    """
    known = names(room)
    if kind not in known:
        raise BadInput(f"{key} = {shown(kind)}: unknown kind{nearest(kind, known)} (allowed: {one_of(known)})")


def get(room: str, kind: str, key: str = "kind") -> type[Any]:
    """The class of a kind. Raises BadInput where there is no such kind, or where another package's is broken.

    key: how the error names the entry that asked for the kind.
    """
    check_name(room, kind, key)
    if kind in added(room):
        return _load(room, added(room)[kind])
    module = importlib.import_module(f"simlab.{room}.{kind}")
    found: type[Any] = getattr(module, str(_class_name(room, kind)))
    return found


def contract(room: str) -> type[Any]:
    """The room's contract: the class that every kind of the room is a subclass of."""
    file = ROOMS[room]
    found: type[Any] = getattr(importlib.import_module(f"simlab.{room}.{file}"), file.capitalize())
    return found


@functools.cache
def _load(room: str, point: importlib.metadata.EntryPoint) -> type[Any]:
    """The class that another package's entry point names, checked to be a kind of this room."""
    where = f"entry point simlab.{room} {point.name!r} = {point.value!r}"
    try:
        named: Any = point.load()
    except (Exception, SystemExit) as error:  # whatever another package does when it is imported
        raise BadInput(f"{where}: cannot be imported ({type(error).__name__}: {error})") from None
    if not (isinstance(named, type) and issubclass(named, contract(room))):
        raise BadInput(f"{where}: must be a subclass of simlab.{room}.{contract(room).__name__}")
    found: type[Any] = named
    if found.kind != point.name:
        raise BadInput(f"{where}: the kind is called {found.kind!r}; the entry point must be named so too")
    if missing := sorted(found.__abstractmethods__):
        raise BadInput(f"{where}: does not define {one_of(missing)}")
    return found


def loaded(room: str) -> dict[str, type[Any]]:
    """Name → class of every kind of a room. Imports them all. Broken kinds of other packages are left out."""
    found = {}
    for kind in names(room):
        with contextlib.suppress(*(BadInput,) if kind in added(room) else ()):
            found[kind] = get(room, kind)
    return found


def able(room: str, wanted: Callable[[type[Any]], bool] | type) -> list[str]:
    """Names of the kinds of a room that can do something. Imports all kinds of the room.

    wanted: a contract that they must be subclasses of, or a condition on their class.
    """
    fits = (lambda cls: issubclass(cls, wanted)) if isinstance(wanted, type) else wanted
    return [kind for kind, cls in loaded(room).items() if fits(cls)]


def all_examples(room: str) -> list[tuple[str, dict[str, Any]]]:
    """(kind, table) for every example of every kind of a room."""
    return [(kind, table) for kind in loaded(room) for table in examples(room, kind)]


def examples(room: str, kind: str) -> list[dict[str, Any]]:
    """The example tables of a kind: its fields or, for an experiment, a whole spec."""
    return list(get(room, kind).examples)


def attributes(package: str, files: bool = True) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a room. With them `networks.TwoLayer` needs no import of its own.

    A file is imported when it is first asked for. `networks.TwoLayer` is the class, `networks.two_layer` the file.
    TAB shows the names in ``__all__`` or, where there is no ``__all__``, the room's own functions and classes.

    package: name of the room's package, such as "simlab.networks".
    files: whether TAB also shows the room's public files and its kinds.
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
