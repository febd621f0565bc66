"""The base of every `Params`, and the way from a TOML table to one and back.

A field that is itself a choice of kind is annotated with the room it is chosen from::

    network: Annotated[Params, Room("networks")]
    observables: Annotated[tuple[Params, ...], Room("observables")]

and is given as a table ``{kind = "two_layer", width = 50}`` or, where no other field is needed, as the bare name.
Python code may also give the kind's module, ``activations.tanh``, or a function where the room has `of_function`,
``np.tanh``.
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from simlab.core import lookup, reads
from simlab.core.errors import BadInput, nearest, one_of, shown

if TYPE_CHECKING:  # pydantic has no public name for it
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class Listed(ModelMetaclass):
    """Makes `dir`, and with it the TAB key, name what a user needs: the fields and what `shown` names.

    Python's own completer lists `dir` of the object, of its class and of every base that ``__bases__`` gives. There
    pydantic's BaseModel, with its forty names, is left out; it stays in ``__mro__``, which Python itself goes by.
    """

    def __dir__(cls) -> list[str]:
        return sorted({*cls.model_fields, *cls.shown})  # type: ignore[attr-defined]

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        return tuple(base for base in super().__bases__ if base is not BaseModel) or (object,)


class Params(BaseModel, metaclass=Listed):
    """Frozen, strict (no silent conversion), no unknown keys, no NaN or infinity, integers of 64 bits.

    `wide` names the fields whose integers may be longer, `shown` the methods that TAB shows beside the fields.
    """

    wide: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def __dir__(self) -> list[str]:
        return dir(type(self))


P = TypeVar("P", bound=Params)
AsTuple = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
"""Marks a tuple that TOML gives as a list; its entries stay strict."""
CHUNK = 10_000
MOST_ENTRIES = 10_000_000
"""Of a recorded array along one of its own dimensions."""
EXACT = 2.0**53
"""Up to here floats hold every integer."""


@dataclass(frozen=True)
class Room:
    """Marks a field whose value is a kind of this room."""

    name: str


def rooms_of(cls: type[Params]) -> dict[str, str]:
    """Field name → room, for the fields that choose a kind."""
    found = {}
    for name, field in cls.model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, Room):
                found[name] = mark.name
    return found


def module_of(params: Params) -> ModuleType:
    """The file of the kind that these are the parameters of."""
    return sys.modules[type(params).__module__]


def kind_of(params: Params) -> str:
    return type(params).__module__.rpartition(".")[2]


def parse(cls: type[P], table: Mapping[str, Any], at: str = "", *, choices_at: str | None = None) -> P:
    """Validate a table. `at` is the dotted key of the table, used in errors.

    `choices_at` is the dotted key of the tables of chosen kinds where that differs: a spec keeps an experiment's own
    fields under ``[experiment]`` and its choices at the top.
    """
    choices_at = at if choices_at is None else choices_at
    rooms = rooms_of(cls)
    values = dict(table)
    for name in _integer_fields(cls).intersection(values):
        values[name] = whole(values[name])
    for name, value in values.items():
        if type(value) is int and abs(value) >= 1 << 63 and name not in cls.wide:
            raise BadInput(f"{join(at, name)} = {shown(value)}: must fit into 64 bits")
    for name, room in rooms.items():
        if name in values:
            several = get_origin(cls.model_fields[name].annotation) is tuple
            given = [values[name]] if several and isinstance(values[name], str) else values[name]
            values[name] = choose(room, given, join(choices_at, name))
    watch = reads.current()
    before = "" if watch is None else watch.at
    try:
        if watch is not None:
            watch.at = at
        found = cls.model_validate(values)
    except ValidationError as error:
        raise BadInput(_first_error(cls, error, at, choices_at, rooms)) from None
    finally:
        if watch is not None:
            watch.at = before
    if watch is not None:
        watch.name(found, at)
    return found


def dump(params: Params) -> dict[str, Any]:
    """The table that `parse` would read back, every default written out; None is left out (TOML has no null)."""

    def plain(value: Any) -> Any:
        if isinstance(value, Params):
            return {"kind": kind_of(value), **dump(value)}
        return [plain(item) for item in value] if isinstance(value, tuple | list) else value

    return {k: plain(v) for k in type(params).model_fields if (v := getattr(params, k)) is not None}


def whole(value: Any) -> Any:
    """An integer written as a float (``2e3``) as an integer, also in lists; anything else as it is."""
    if isinstance(value, float) and abs(value) <= EXACT and value == int(value):
        return int(value)
    return [whole(item) for item in value] if isinstance(value, list) else value


def first_wrong(cls: type[Params], name: str, values: list[Any]) -> int | None:
    """The first of many values that a field does not take, by index; None if it takes all of them.

    Says nothing of rules between fields. A million numbers take half a second.
    """
    if any(name in one.info.fields for one in cls.__pydantic_decorators__.field_validators.values()):
        raise TypeError(f"{cls.__module__}.{name} has a validator of its own; parse the values one by one")
    several, is_integer = _several(cls, name), name in _integer_fields(cls)
    for first in range(0, len(values), CHUNK):
        chunk = values[first : first + CHUNK]
        if is_integer:
            chunk = [whole(value) for value in chunk]
        long = next((i for i, v in enumerate(chunk) if type(v) is int and abs(v) >= 1 << 63), None)
        if long is not None and name not in cls.wide:
            chunk = chunk[:long]
        try:
            several.validate_python(chunk)
        except ValidationError as error:
            return first + min(int(one["loc"][0]) for one in error.errors(include_url=False, include_input=False))
        if long is not None and name not in cls.wide:
            return first + long
    return None


@functools.cache
def _several(cls: type[Params], name: str) -> TypeAdapter[Any]:
    field = cls.model_fields[name]
    one = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return TypeAdapter(list[one], config=cls.model_config)  # type: ignore[valid-type]


@functools.cache
def _integer_fields(cls: type[Params]) -> frozenset[str]:
    """The fields that hold integers and no other numbers."""

    def leaves(annotation: Any) -> list[Any]:
        inside = get_args(annotation)
        return [leaf for part in inside for leaf in leaves(part)] if inside else [annotation]

    found = {name: leaves(field.annotation) for name, field in cls.model_fields.items()}
    return frozenset(name for name, types in found.items() if int in types and float not in types)


def join(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def choose(room: str, value: Any, key: str) -> Any:
    """The `Params` of the kind that a table, or a bare name, asks for; a tuple of them for a list."""
    if isinstance(value, Params):
        return value
    if isinstance(value, list | tuple):
        return tuple(choose(room, item, f"{key}[{i}]") for i, item in enumerate(value))
    if isinstance(value, ModuleType) and value.__name__.startswith(f"simlab.{room}."):  # ntk(3, activations.tanh)
        value = value.__name__.rpartition(".")[2]
    # A function from Python code, ntk(3, np.tanh), where the room knows what kind it is.
    if callable(value) and (of_function := getattr(importlib.import_module(f"simlab.{room}"), "of_function", None)):
        return of_function(value, key)
    table = {"kind": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping):
        raise BadInput(f'{key} = {shown(value)}: must be a table with "kind", one of {one_of(lookup.kinds(room))}')
    if "kind" not in table:
        raise BadInput(f"{join(key, 'kind')}: missing (allowed: {one_of(lookup.kinds(room))})")
    kind = table["kind"]
    if not isinstance(kind, str):
        raise BadInput(f"{join(key, 'kind')} = {shown(kind)}: must be a name (allowed: {one_of(lookup.kinds(room))})")
    module = lookup.get(room, kind, join(key, "kind"))
    return parse(module.Params, {k: v for k, v in table.items() if k != "kind"}, key)


def _first_error(cls: type[Params], error: ValidationError, at: str, choices_at: str, rooms: Mapping[str, str]) -> str:
    errors = error.errors(include_url=False)
    # An unknown key first: "missing" is often its consequence (a misspelt name).
    first = min(errors, key=lambda e: e["type"] != "extra_forbidden")
    loc = [str(part) for part in first["loc"]]
    key = ".".join(filter(None, [choices_at if loc[0] in rooms else at, *loc])) if loc else ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    given = list(first["input"]) if isinstance(first["input"], tuple) else first["input"]  # as TOML has it
    value = "" if not loc or first["type"] == "missing" else f" = {shown(given)}"
    if loc and isinstance(first["input"], Params):
        key, value = join(key, "kind"), f" = {kind_of(first['input'])!r}"
    match first["type"]:
        case "extra_forbidden":
            known = [name for name in cls.model_fields if choices_at == at or name not in rooms]
            says = f"unknown key{nearest(loc[-1], known)} (allowed: {one_of(known)})"
        case "model_type" if isinstance(first["input"], Params):
            says = f"not of use here (allowed: {one_of(_kinds_in(cls.model_fields[loc[0]].annotation))})"
        case "too_short":
            says = f"must name at least {first['ctx']['min_length']}"
        case "missing" if loc[0] in rooms:
            says = f"missing: give a [{key}] table with kind, one of {one_of(lookup.kinds(rooms[loc[0]]))}"
        case "missing":
            says = "missing"
        case _:
            says = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
            says = says if first["type"] == "value_error" else f"must be {says}"
    if not key and (named := re.match(r"\w+", says)) and named[0] in cls.model_fields:  # of several fields together
        says = join(choices_at if named[0] in rooms else at, says)
    return f"{key}{value}: {says}{more}" if key else f"{says}{more}"


def _kinds_in(annotation: Any) -> list[str]:
    """The kinds whose `Params` an annotation names."""
    classes = [annotation, *get_args(annotation)]
    return [c.__module__.rpartition(".")[2] for c in classes if isinstance(c, type) and issubclass(c, Params)]
