"""Kinds: the objects a spec is made of, and how they are found. ``kind = "two_layer"`` is `simlab.networks.TwoLayer`.

A kind is a frozen model (`Kind`), defined in a file of its own: ``class TwoLayer(Trainable)`` in
simlab/networks/two_layer.py. Its TOML name is the file's name, its room the folder. The class's name is the file's name
without underscores, in capitals as the field writes it (`TwoLayer`, `MLP`, `ReLU`).

Each room has one more file, named in the singular (`ROOMS`), with its contract: the abstract class or classes that
every kind of the room is a subclass of. A field that holds a kind is annotated with the contract that it needs
(``network: Trainable``), which says both the room and what the kind must be able to do.

Nothing is registered. Kinds are found by looking at the files, and a kind is imported when it is asked for. Other
packages add kinds by entry points of the group ``simlab.<room>``, named as the kind::

    [project.entry-points."simlab.activations"]
    swish = "my_package.swish:Swish"
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.sources import PACKAGE

if TYPE_CHECKING:  # pydantic has no public name for it
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

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


class KindClass(ModelMetaclass):
    """The class of kind classes: what calling one does, and what the TAB key shows of it.

    Python's completer lists `dir` of the object, of its class and of every base that ``__bases__`` gives. There
    pydantic's BaseModel, with its forty names, is left out; it stays in ``__mro__``, which Python itself goes by.
    """

    if not TYPE_CHECKING:  # for type checkers the signature is that of the fields

        def __call__(cls, *positional: Any, **fields: Any) -> Any:
            from simlab.core.parsing import made

            if positional:
                raise TypeError(f"{cls.__name__} takes named fields only: {', '.join(cls.model_fields)}")
            return made(cls, fields) if issubclass(cls, Kind) else super().__call__(**fields)

    def __instancecheck__(cls, thing: Any) -> bool:  # TRANSITION
        from simlab.core import transition

        return super().__instancecheck__(thing) or transition.passes(cls, thing)

    def __subclasscheck__(cls, other: Any) -> bool:  # TRANSITION
        from simlab.core import transition

        return super().__subclasscheck__(other) or transition.passes_class(cls, other)

    def __dir__(cls) -> list[str]:
        return sorted({*cls.model_fields, *cls.shown})  # type: ignore[attr-defined]

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        return tuple(base for base in super().__bases__ if base is not BaseModel) or (object,)


class Table(BaseModel, metaclass=KindClass):
    """A validated TOML table: frozen, strict (no silent conversion), no unknown keys, no NaN or infinity.

    wide: fields whose integers may be longer than 64 bits.
    shown: methods and attributes that TAB shows beside the fields.
    """

    wide: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def __dir__(self) -> list[str]:
        return dir(type(self))


class Kind(Table):
    """The base of every kind.

    Class attributes, which are no fields:

    kind: name in TOML, such as "two_layer".
    room: the room, such as "networks".
    examples: tables of fields, without ``kind``, that contract tests run and ``simlab show`` prints. One per kind of
        use; needed where a field has no default.
    lack: what the error says of a kind that does not fulfil this contract, where a field needs it.
    """

    kind: ClassVar[str] = "kind"
    room: ClassVar[str] = ""
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    lack: ClassVar[str] = "not of use here"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        package, _, path = cls.__module__.partition(".")
        room, _, file = path.rpartition(".")
        file = file or package
        if package == "simlab" and room:  # one of another package is in the room of its contract
            cls.room = room
        cls.kind = file if plain(file) == plain(cls.__name__) else snake(cls.__name__)
        from simlab.core import transition  # TRANSITION

        transition.subclassed(cls)

    @classmethod
    def of_function(cls, function: Any, key: str) -> Kind | None:
        """The kind that a Python function stands for, such as `np.tanh`; None where the room has no such thing."""
        return None

    def __repr__(self) -> str:
        """``two_layer(width=3, activation=tanh())``: fields that have their default are left out."""
        return f"{self.kind}({', '.join(f'{name}={value!r}' for name, value in changed_fields(self).items())})"

    def __str__(self) -> str:
        return repr(self)


def plain(name: str) -> str:
    """A name in small letters without underscores: that of a kind's file and that of its class are the same."""
    return name.replace("_", "").lower()


def snake(name: str) -> str:
    """``TwoLayer`` → ``two_layer``"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def changed_fields(kind: Kind) -> dict[str, Any]:
    """Name → value of the fields that differ from their default, or have none."""
    return {
        name: getattr(kind, name)
        for name, field in type(kind).model_fields.items()
        if field.is_required() or getattr(kind, name) != field.get_default(call_default_factory=True)
    }


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
    found = next((found for found in defined if plain(found) == plain(name)), None)
    if found is None and room == "claims" and "\ndef judge" in _text(room, name):  # TRANSITION
        return "judge"
    return found or ("Params" if "Params" in defined else None)  # TRANSITION


@functools.cache
def added(room: str) -> dict[str, importlib.metadata.EntryPoint]:
    """The kinds that other packages add to a room, by name. One of simlab's own is never replaced."""
    points = importlib.metadata.entry_points(group=f"simlab.{room}")
    return {point.name: point for point in sorted(points, key=lambda p: p.value) if point.name not in _own(room)}


def _text(room: str, kind: str) -> str:
    folder = PACKAGE / room / kind
    return (folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")).read_text(encoding="utf-8")


def names(room: str) -> list[str]:
    """Every kind of a room, by name; imports none of them."""
    return sorted([*_own(room), *added(room)])


def first_line(room: str, kind: str) -> str:
    """The first line of the docstring of a kind's file; one of another package is imported for it."""
    if kind in added(room):
        module = sys.modules[get(room, kind).__module__]
        return inspect.cleandoc(module.__doc__ or get(room, kind).__doc__ or "").partition("\n")[0]
    text = _text(room, kind)
    if one_line := re.match(r'"""([^"\\\n]+)(\n|""")', text):
        return one_line[1].strip()
    return inspect.cleandoc(ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


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
    except Exception as error:  # whatever another package does when it is imported
        raise BadInput(f"{where}: cannot be imported ({type(error).__name__}: {error})") from None
    if not (isinstance(found, type) and issubclass(found, contract(room))):
        raise BadInput(f"{where}: must be a subclass of simlab.{room}.{contract(room).__name__}")
    if found.kind != point.name:
        raise BadInput(f"{where}: the kind is called {found.kind!r}; the entry point must be named so too")
    return found


def able(room: str, wanted: Callable[[type[Any]], bool] | type) -> list[str]:
    """The kinds of a room that are subclasses of a contract, or whose class fulfils a condition. Imports them all."""
    from simlab.core.transition import facts  # TRANSITION

    fits = (lambda cls: issubclass(cls, wanted)) if isinstance(wanted, type) else lambda cls: wanted(facts(cls))
    return [kind for kind in names(room) if fits(get(room, kind))]


def all_examples(room: str) -> list[tuple[str, dict[str, Any]]]:
    """(kind, table) for every example of every kind of a room."""
    from simlab.core import transition  # TRANSITION

    return [(kind, table) for kind in names(room) for table in transition.examples(room, kind)]


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
