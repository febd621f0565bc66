"""JSON Schemas in words, for somebody who writes TOML: ``integer, at least 1``, ``one of "ntk", "none"``."""

from __future__ import annotations

import json
from typing import Any

from simlab.core import catalogue, json_schema
from simlab.core.json_schema import Schema
from simlab.core.kinds import Table
from simlab.core.parsing import rooms_of

MOST_NAMED = 6
"""A field that takes more kinds names this many, and the command that lists all."""
_TYPES = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}


def of_field(cls: type[Table], name: str) -> str:
    """What to write for a field of a table: its type and bounds, or the kinds that it takes."""
    field = cls.model_fields[name]
    room = rooms_of(cls).get(name)
    if room is None:
        return of_schema(json_schema.of_field(cls, name))
    able = json_schema.kinds_for(field, room)
    listed = ", ".join(able[:MOST_NAMED]) + (f", … (`simlab list {room}`)" if len(able) > MOST_NAMED else "")
    alone = any(not json_schema.required(catalogue.get(room, kind)) for kind in able)
    if json_schema.is_list(field):
        return f"list of tables with kind, or of names: {listed}"
    if len(able) == 1:
        return f"table with kind = {toml(able[0])}"
    return f"table with kind, one of {listed}" + ("; or a name" if alone else "")


def default_of(cls: type[Table], name: str) -> str:
    """``required``, ``default 64`` or ``may be left out``."""
    if cls.model_fields[name].is_required():
        return "required"
    schema = json_schema.of_field(cls, name)
    return f"default {toml(schema['default'])}" if "default" in schema else "may be left out"


def toml(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False, default=str)


def of_schema(schema: Schema) -> str:
    """The words of a schema. It must not refer to definitions (``$ref``)."""
    if "anyOf" in schema:
        return " or ".join(of_schema(one) for one in schema["anyOf"])
    if "const" in schema:
        return toml(schema["const"])
    if "enum" in schema:
        return f"one of {', '.join(map(toml, schema['enum']))}"
    if schema.get("type") == "array":
        return _list(schema)
    if schema.get("type") not in _TYPES:
        return "a Python object, not for TOML"
    if schema.get("minLength"):
        return "text, not empty"
    bounds = _bounds(schema)
    return _TYPES[schema["type"]] + (f", {bounds}" if bounds else "")


def _bounds(schema: Schema) -> str:
    """The bounds of a number: ``from 1 to 30``, ``above 0 and at most 1``, ``at least 1``; "" without any."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"from {_number(low)} to {_number(high)}"
    words = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    return " and ".join(f"{word} {_number(schema[key])}" for key, word in words.items() if key in schema)


def _number(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _list(schema: Schema) -> str:
    """The words of a list: ``list of integers at least 1, 2 to 6 of them``."""
    inner = schema.get("items", {})
    plural = {"integer": "integers", "number": "numbers", "string": "texts", "array": "lists"}
    if inner.get("type") == "array":
        what = f"lists of {plural.get(inner.get('items', {}).get('type'), 'values')}"
    else:
        what = plural.get(inner.get("type"), "values")
    bounds = _bounds(inner)
    least, most = schema.get("minItems"), schema.get("maxItems")
    count = f"{least or 0} to {most} of them" if most else f"at least {least} of them" if least else ""
    return ", ".join(filter(None, [f"list of {what}" + (f" {bounds}" if bounds else ""), count]))
