"""The JSON Schema of a whole spec, for editors: experiments with their fields, the tables of rooms, sweep and figure.

Every spec that `simlab.lab.spec.resolve` accepts fulfils the schema, so that an editor never marks a good spec. The
reverse is not true: rules between fields are known only to the kinds.

A required field may be missing from its table where the sweep gives it, as an axis ``"network.width"`` or, written
without quotes, as ``network = { width = … }`` inside ``[sweep]``. Hence the conditions ``if not swept then required``.
"""

from __future__ import annotations

import re
from typing import Any

from simlab.core import catalogue, json_schema
from simlab.core.json_schema import Schema
from simlab.core.kinds import Table
from simlab.core.parsing import rooms_of
from simlab.lab.spec import Header
from simlab.lab.sweep import MOST_POINTS, WORDS

TABLE_LEVELS = 2
"""Missing fields are noticed in tables up to this level: network is the first, network.activation the second."""
_AXIS = {"$ref": "#/$defs/axis"}


def spec_schema() -> Schema:
    """One schema for every spec."""
    classes = catalogue.loaded("experiments")
    kinds = list(classes)
    rooms = sorted({room for cls in classes.values() for room in rooms_of(cls).values()})
    lines = {kind: catalogue.first_line("experiments", kind) for kind in kinds}
    header: Schema = {
        "type": "object",
        "properties": {"kind": {"enum": kinds, "description": "; ".join(f"{k}: {v}" for k, v in lines.items())}},
        "required": ["kind"],
    }
    return {
        "$schema": json_schema.DRAFT,
        "title": "A spec of simlab",
        "type": "object",
        "properties": {"experiment": header},
        "required": ["experiment"],
        "allOf": [
            {
                "if": _at(("experiment", "kind"), {"const": kind}),
                "then": {"$ref": f"#/$defs/experiments.{kind}"},
            }
            for kind in kinds
        ],
        "$defs": {
            **json_schema.definitions([*rooms, "figures"]),
            **{f"experiments.{kind}": _experiment(kind, cls) for kind, cls in classes.items()},
            **{_needs_name(*place): {"allOf": _needs((place[0],), place[1])} for place in _places(classes)},
            "figure": {**json_schema.complete("figures"), "type": "object"},
            **_sweep_words(),
        },
    }


def _experiment(kind: str, cls: type[Table]) -> Schema:
    """A whole spec of one kind of experiment."""
    rooms = rooms_of(cls)
    own = {name: json_schema.of_field(cls, name) for name in cls.model_fields if name not in rooms}
    header = {name: json_schema.of_field(Header, name) for name in Header.model_fields}
    line = catalogue.first_line("experiments", kind)
    tables: dict[str, Schema] = {}
    conditions: list[Schema] = []
    for name in json_schema.required(cls):
        path = (name,) if name in rooms else ("experiment", name)
        conditions.append(_unless_swept(path))
    for name, room in rooms.items():
        tables[name] = json_schema.of_field(cls, name)
        if not json_schema.is_list(cls.model_fields[name]):
            tables[name] = {"anyOf": [tables[name], {"$ref": "#/$defs/kind_swept"}]}
            conditions.append({"$ref": f"#/$defs/{_needs_name(name, room)}"})
    return {
        "description": line,
        "properties": {
            "experiment": {
                "type": "object",
                "description": line,
                "properties": {**header, "kind": {"const": kind, "description": line}, **own},
                "required": ["kind"],
                "additionalProperties": False,
            },
            **tables,
            "sweep": _sweep(cls, list(own)),
            "figure": {"$ref": "#/$defs/figure"},
        },
        "additionalProperties": False,
        "allOf": conditions,
    }


def _places(classes: dict[str, type[Table]]) -> list[tuple[str, str]]:
    """(table, room) for the tables of all experiments that a sweep can reach into."""
    return sorted(
        {
            (name, room)
            for cls in classes.values()
            for name, room in rooms_of(cls).items()
            if not json_schema.is_list(cls.model_fields[name])
        }
    )


def _needs_name(table: str, room: str) -> str:
    return f"needs.{table}.{room}"


def _needs(path: tuple[str, ...], room: str) -> list[Schema]:
    """Conditions: what the kind of the table at `path` requires is there, or swept; and so is the kind."""
    by_field: dict[str, list[str]] = {}
    inner: dict[str, str] = {}
    for kind in json_schema.in_toml(room):
        cls = catalogue.get(room, kind)
        inner |= {n: r for n, r in rooms_of(cls).items() if not json_schema.is_list(cls.model_fields[n])}
        for name in json_schema.required(cls):
            by_field.setdefault(name, []).append(kind)
    found = [_unless_swept((*path, "kind"))] if len(path) == 1 else []
    for name, kinds in by_field.items():
        found.append(_unless_swept((*path, name), _at((*path, "kind"), {"enum": kinds})))
    if len(path) < TABLE_LEVELS:
        for name, its_room in inner.items():
            found += _needs((*path, name), its_room)
    return found


def _at(path: tuple[str, ...], schema: Schema) -> Schema:
    """The entry at this path is there, and as given."""
    for name in reversed(path):
        schema = {"type": "object", "properties": {name: schema}, "required": [name]}
    return schema


def _unless_swept(path: tuple[str, ...], also: Schema | None = None) -> Schema:
    """Where no axis of the sweep gives the entry at `path`, it is there itself, if the table that it belongs to is."""
    needed: Schema = {"required": [path[-1]]}
    for name in reversed(path[:-1]):
        needed = {"properties": {name: needed}}
    condition: Schema = {"not": {"properties": {"sweep": _swept(path)}, "required": ["sweep"]}}
    return {"if": {"allOf": [condition, also]} if also else condition, "then": needed}


def _swept(path: tuple[str, ...]) -> Schema:
    """Some axis is this entry or a part of it, however the dots of its key were quoted."""
    pattern = f"^{re.escape('.'.join(path))}(\\.|$)".replace("\\_", "_")
    ways: list[Schema] = [{"not": {"propertyNames": {"not": {"pattern": pattern}}}}]
    for i in range(1, len(path)):
        name = ".".join(path[:i])
        ways.append({"properties": {name: {"type": "object", **_swept(path[i:])}}, "required": [name]})
    return {"anyOf": ways}


def _sweep(cls: type[Table], own: list[str]) -> Schema:
    """[sweep] of one experiment: its axes are dotted keys of the tables that it has."""
    rooms = rooms_of(cls)
    patterns: dict[str, Schema] = {}
    properties: dict[str, Schema] = {word: {"$ref": f"#/$defs/sweep.{word}"} for word in WORDS}
    if own:
        patterns[f"^experiment\\.({'|'.join(own)})$"] = _AXIS
        properties["experiment"] = _nested(own)
    for name, room in rooms.items():
        field = cls.model_fields[name]
        fields = ["kind"]
        for kind in json_schema.kinds_for(field, room):
            fields += [key for key in catalogue.get(room, kind).model_fields if key not in fields]
        whole = {"type": "array", "minItems": 1, "items": {"type": ["object", "string"]}}
        properties[name] = {"anyOf": [whole, _nested(fields)]}
        patterns[f"^{name}\\.({'|'.join(fields)})(\\..+)?$"] = _AXIS
    return {
        "type": "object",
        "description": "Axes: dotted keys and their values (see `simlab show sweep`)",
        "minProperties": 1,
        "properties": properties,
        "patternProperties": patterns,
        "additionalProperties": False,
    }


def _nested(fields: list[str]) -> Schema:
    """Axes written without quotes: network.width = […]."""
    inside = {"anyOf": [_AXIS, {"$ref": "#/$defs/axes"}]}
    return {
        "type": "object",
        "minProperties": 1,
        "patternProperties": {f"^({'|'.join(fields)})(\\..+)?$": inside},
        "additionalProperties": False,
    }


def _sweep_words() -> dict[str, Any]:
    number, whole = {"type": "number"}, {"type": "integer"}
    count = {"type": "integer", "minimum": 1, "maximum": MOST_POINTS}
    three = {"type": "array", "items": number, "prefixItems": [number, number, count], "minItems": 3, "maxItems": 3}
    names = {"type": "array", "items": {"type": "string"}}
    spaces = {
        "linspace": "evenly spaced: [first, last, how many]",
        "logspace": "powers of ten: [first exponent, last exponent, how many]",
        "geomspace": "evenly spaced in the logarithm: [first, last, how many]",
    }
    makers: list[Schema] = [_maker(word, {**three, "description": text}) for word, text in spaces.items()]
    text = "whole numbers, as Python's range: [stop], [start, stop] or [start, stop, step]"
    makers.append(_maker("range", {"type": "array", "items": whole, "minItems": 1, "maxItems": 3, "description": text}))
    return {
        "axis": {"anyOf": [{"type": "array", "minItems": 1}, *makers]},
        "axes": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"not": {"enum": ["linspace", "logspace", "geomspace", "range"]}},
            "additionalProperties": {"anyOf": [_AXIS, {"$ref": "#/$defs/axes"}]},
        },
        "kind_swept": {
            "type": "object",
            "description": "a table whose kind is an axis of the sweep",
            "not": {"required": ["kind"]},
        },
        "sweep.seeds": {**count, "description": "repetitions: the dimension seed"},
        "sweep.zip": {
            "type": "array",
            "items": {**names, "minItems": 2},
            "description": "groups of axes that advance together",
        },
        "sweep.independent": {**names, "description": "axes whose value is mixed into the random streams"},
    }


def _maker(word: str, numbers: Schema) -> Schema:
    return {"type": "object", "properties": {word: numbers}, "required": [word], "additionalProperties": False}
