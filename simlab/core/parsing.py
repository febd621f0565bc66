"""From a TOML table to a kind (`parse`) and back (`dump`).

A field that holds a kind is annotated with the contract that the kind must fulfil::

    network: Trainable
    observables: tuple[Observable, ...]

In TOML its value is a table, ``{kind = "two_layer", width = 50}``, or the bare name where no field needs to be given.
In Python it may also be

- a kind: ``activations.Tanh()``;
- a kind's class or file: ``activations.Tanh``, ``activations.tanh``;
- a function, where the room's contract defines `Kind.of_function`: ``np.tanh``.

Every error is one line that names the key, the value and what is allowed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Annotated, Any, TypeVar, get_args, get_origin

import numpy as np
from pydantic import BeforeValidator, TypeAdapter, ValidationError

from simlab.core import catalogue, reads
from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.kinds import Kind, Table

K = TypeVar("K", bound=Kind)
T = TypeVar("T", bound=Table)
AsTuple = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
"""Marks a tuple that TOML gives as a list; its entries stay strict."""
CHUNK_VALUES = 10_000
"""Number of values that `first_wrong` hands to pydantic at once."""
MOST_ENTRIES = 10_000_000
"""Largest length of a recorded array along one of its own dimensions."""
LARGEST_EXACT = 2.0**53
"""Every integer up to this size is a float64."""
WIDTH_BITS = 63
"""Integers of a field must be smaller than 2 to this power, unless the class lists the field in `wide`."""


def contracts_of(cls: type[Table]) -> dict[str, type[Kind]]:
    """Field name → contract, for the fields that hold kinds."""
    found = {}
    for name, field in cls.model_fields.items():
        classes = [leaf for leaf in _leaves(field.annotation) if isinstance(leaf, type) and issubclass(leaf, Kind)]
        if classes:
            found[name] = classes[0]
    return found


def rooms_of(cls: type[Table]) -> dict[str, str]:
    """Field name → room, for the fields that hold kinds."""
    return {name: contract.room for name, contract in contracts_of(cls).items()}


def _leaves(annotation: Any) -> list[Any]:
    """The types inside an annotation: ``tuple[int, ...] | None`` → int, ``...``, None."""
    inside = get_args(annotation)
    return [leaf for part in inside for leaf in _leaves(part)] if inside else [annotation]


def build(cls: type[K], fields: Mapping[str, Any]) -> K:
    """A kind from the values that Python code gives: like `parse`, but numbers may also be NumPy's."""
    return parse(cls, {name: _from_python(value) for name, value in fields.items()}, cls.kind)


def _from_python(value: Any) -> Any:
    """A NumPy number as Python's, also in lists; anything else as it is."""
    if isinstance(value, np.generic):
        return value.item()
    return [_from_python(item) for item in value] if isinstance(value, list) else value


def parse(cls: type[T], table: Mapping[str, Any], at: str = "", *, choices_at: str | None = None) -> T:
    """The kind or table of class `cls` with these fields. Raises BadInput for the first wrong one.

    table: field name → value as TOML gives it; fields that hold kinds as in `choose`.
    at: dotted key of the table, which errors put before the name of a field.
    choices_at: dotted key of the fields that hold kinds, where it differs from `at`. A spec has an experiment's own
        fields under ``[experiment]``, and the kinds it is made of in tables of their own, such as ``[network]``.
    """
    choices_at = at if choices_at is None else choices_at
    rooms = rooms_of(cls)
    values = dict(table)
    for name in _integer_fields(cls).intersection(values):
        values[name] = whole(values[name])
    for name, value in values.items():
        if type(value) is int and abs(value) >= 1 << WIDTH_BITS and name not in cls.wide:
            raise BadInput(f"{join(at, name)} = {shown(value)}: must fit into 64 bits")
    for name, room in rooms.items():
        if name in values:
            several = get_origin(cls.model_fields[name].annotation) is tuple
            given = [values[name]] if several and isinstance(values[name], str) else values[name]
            values[name] = choose(room, given, join(choices_at, name))
    try:
        return reads.construct(at, lambda: cls.model_validate(values))
    except ValidationError as error:
        raise BadInput(_first_error(cls, error, at, choices_at, rooms)) from None


def dump(kind: Table) -> dict[str, Any]:
    """The table from which `parse` makes an equal kind. It has every field, but for those that are None: TOML has no
    null."""

    def plain(value: Any) -> Any:
        if isinstance(value, Kind):
            return {"kind": value.kind, **dump(value)}
        return [plain(item) for item in value] if isinstance(value, tuple | list) else value

    return {k: plain(v) for k in type(kind).model_fields if (v := getattr(kind, k)) is not None}


def whole(value: Any) -> Any:
    """An integer written as a float (``2e3``) as an integer, also in lists; anything else as it is."""
    if isinstance(value, float) and abs(value) <= LARGEST_EXACT and value == int(value):
        return int(value)
    return [whole(item) for item in value] if isinstance(value, list) else value


def first_wrong(cls: type[Table], name: str, values: list[Any]) -> int | None:
    """Index of the first of many values that a field refuses; None if it takes all of them.

    Checks the field alone, not the rules between fields. A million numbers take half a second.
    """
    if any(name in one.info.fields for one in cls.__pydantic_decorators__.field_validators.values()):
        raise TypeError(f"{cls.__module__}.{name} has a validator of its own; parse the values one by one")
    several, is_integer = _several(cls, name), name in _integer_fields(cls)
    for first in range(0, len(values), CHUNK_VALUES):
        chunk = values[first : first + CHUNK_VALUES]
        if is_integer:
            chunk = [whole(value) for value in chunk]
        long = next((i for i, v in enumerate(chunk) if type(v) is int and abs(v) >= 1 << WIDTH_BITS), None)
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
def _several(cls: type[Table], name: str) -> TypeAdapter[Any]:
    """Validates a list of values of one field."""
    field = cls.model_fields[name]
    one = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return TypeAdapter(list[one], config=cls.model_config)  # type: ignore[valid-type]


@functools.cache
def _integer_fields(cls: type[Table]) -> frozenset[str]:
    """Names of the fields that hold integers and no floats."""
    found = {name: _leaves(field.annotation) for name, field in cls.model_fields.items()}
    return frozenset(name for name, types in found.items() if int in types and float not in types)


def join(at: str, name: str) -> str:
    """The dotted key of a field in the table `at`, which is empty at the top."""
    return f"{at}.{name}" if at else name


def choose(room: str, value: Any, key: str) -> Any:
    """The kind that a value of a field asks for; a tuple of kinds for a list. Raises BadInput.

    room: room of the field's contract.
    value: what the field was given, in one of the forms listed at the top of this file.
    key: dotted key of the field, for errors.
    """
    if isinstance(value, Kind):
        return value
    if isinstance(value, list | tuple):
        return tuple(choose(room, item, f"{key}[{i}]") for i, item in enumerate(value))
    if isinstance(value, ModuleType) and value.__name__.startswith(f"simlab.{room}."):  # ntk(3, activations.tanh)
        value = value.__name__.rpartition(".")[2]
    if isinstance(value, type) and issubclass(value, Kind):  # ntk(3, activations.Tanh)
        return parse(value, {}, key)
    # A function from Python code, ntk(3, np.tanh), where the room knows what kind it is.
    if callable(value) and (found := catalogue.contract(room).of_function(value, key)) is not None:
        return found
    table = {"kind": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping):
        raise BadInput(f'{key} = {shown(value)}: must be a table with "kind", one of {one_of(catalogue.names(room))}')
    if "kind" not in table:
        raise BadInput(f"{join(key, 'kind')}: missing (allowed: {one_of(catalogue.names(room))})")
    kind = table["kind"]
    if not isinstance(kind, str):
        raise BadInput(
            f"{join(key, 'kind')} = {shown(kind)}: must be a name (allowed: {one_of(catalogue.names(room))})"
        )
    cls = catalogue.get(room, kind, join(key, "kind"))
    return parse(cls, {k: v for k, v in table.items() if k != "kind"}, key)


def _first_error(cls: type[Table], error: ValidationError, at: str, choices_at: str, rooms: Mapping[str, str]) -> str:
    """pydantic's complaint in one line of the house's: key, value, what is allowed.

    at, choices_at: as in `parse`.
    rooms: field name → room, for the fields that hold kinds.
    """
    errors = error.errors(include_url=False)
    # An unknown key first: "missing" is often its consequence (a misspelt name).
    first = min(errors, key=lambda e: e["type"] != "extra_forbidden")
    loc = [str(part) for part in first["loc"]]
    key = ".".join(filter(None, [choices_at if loc[0] in rooms else at, *loc])) if loc else ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    given = list(first["input"]) if isinstance(first["input"], tuple) else first["input"]  # as TOML has it
    value = "" if not loc or first["type"] == "missing" else f" = {shown(given)}"
    if loc and isinstance(first["input"], Kind):
        key, value = join(key, "kind"), f" = {first['input'].kind!r}"
    match first["type"]:
        case "extra_forbidden":
            known = [name for name in cls.model_fields if choices_at == at or name not in rooms]
            says = f"unknown key{nearest(loc[-1], known)} (allowed: {one_of(known)})"
        case "model_type" if isinstance(first["input"], Kind):
            contract = contracts_of(cls)[loc[0]]
            says = f"{contract.lack} (allowed: {one_of(catalogue.able(contract.room, contract))})"
        case "too_short":
            says = f"must name at least {first['ctx']['min_length']}"
        case "missing" if loc[0] in rooms:
            says = f"missing: give a [{key}] table with kind, one of {one_of(catalogue.names(rooms[loc[0]]))}"
        case "missing":
            says = "missing"
        case _:
            says = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
            says = says if first["type"] == "value_error" else f"must be {says}"
    if not key and (named := re.match(r"\w+", says)) and named[0] in cls.model_fields:  # of several fields together
        says = join(choices_at if named[0] in rooms else at, says)
    return f"{key}{value}: {says}{more}" if key else f"{says}{more}"
