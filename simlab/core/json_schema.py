"""The JSON Schema of kinds: what a TOML table of each may hold, for editors and for `simlab show`.

A schema is made from the fields of the kind's class, and says which keys, types and bounds there are. A field that
holds a kind refers to the definition of that kind's room. Rules between several fields are not in the schema: only
`simlab.core.parsing.parse` checks them. Draft 2020-12, without anything that readers of draft 7 would misread.

A table may lack a required field that a sweep gives (``"network.width" = […]``). Required fields are therefore no part
of a kind's definition but conditions of their own, `needs`.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from simlab.core import catalogue
from simlab.core.kinds import Kind, Table
from simlab.core.parsing import dump, rooms_of

Schema = dict[str, Any]
"""A JSON Schema as Python's dict."""
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def required(cls: type[Table]) -> list[str]:
    """Names of the fields without a default."""
    return [name for name, field in cls.model_fields.items() if field.is_required()]


def in_toml(room: str) -> list[str]:
    """The kinds of a room that a TOML table can describe; those that require a Python object are left out."""

    def has_no_function(cls: type[Table]) -> bool:
        return all(cls.model_fields[name].annotation is not Any for name in required(cls))

    return [kind for kind, cls in catalogue.loaded(room).items() if has_no_function(cls)]


def is_list(field: FieldInfo) -> bool:
    """Whether a field holds several kinds, not one."""
    return get_origin(field.annotation) is tuple


def kinds_for(field: FieldInfo, room: str) -> list[str]:
    """The kinds of a room that this field takes: those that are subclasses of the contract in its annotation."""
    annotation = field.annotation
    wanted = tuple(c for c in (annotation, *get_args(annotation)) if isinstance(c, type) and issubclass(c, Kind))
    return [kind for kind in in_toml(room) if issubclass(catalogue.get(room, kind), wanted)]


def of_field(cls: type[Table], name: str) -> Schema:
    """The schema of one field, with its description and default."""
    field = cls.model_fields[name]
    room = rooms_of(cls).get(name)
    schema = _plain(field) if room is None else _choice(field, room)
    if field.description:
        schema["description"] = field.description
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    if default is not None:
        schema["default"] = _table(default)
    return schema


def of_kind(room: str, kind: str) -> Schema:
    """The schema of a table of one kind; required fields may be missing."""
    cls = catalogue.get(room, kind)
    line = catalogue.first_line(room, kind)
    return {
        "title": f"{room}/{kind}",
        "description": line,
        "type": "object",
        "properties": {"kind": {"const": kind, "description": line}}
        | {name: of_field(cls, name) for name in cls.model_fields},
        "required": ["kind"],
        "additionalProperties": False,
    }


def of_room(room: str, kinds: list[str] | None = None) -> Schema:
    """The schema of a table of one of these kinds, or of the bare name of one without required fields.

    kinds: by default all of the room that TOML can describe.
    """
    chosen = in_toml(room) if kinds is None else kinds
    alone = [kind for kind in chosen if not required(catalogue.get(room, kind))]
    names: list[Schema] = [{"enum": alone}] if alone else []
    return {"oneOf": [*names, *({"$ref": f"#/$defs/{room}.{kind}"} for kind in chosen)]}


def needs(room: str, kinds: list[str] | None = None) -> list[Schema]:
    """Conditions on a table of a room, one per kind: that its required fields are there. kinds: as in `of_room`."""
    found = {kind: required(catalogue.get(room, kind)) for kind in (in_toml(room) if kinds is None else kinds)}
    return [
        {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": {"required": fields}}
        for kind, fields in found.items()
        if fields
    ]


def complete(room: str, kinds: list[str] | None = None) -> Schema:
    """As `of_room`, but required fields must be there."""
    return {**of_room(room, kinds), "allOf": needs(room, kinds)}


def definitions(rooms: list[str]) -> dict[str, Schema]:
    """`$defs` of every kind of these rooms, and of the rooms that their fields choose from."""
    found: dict[str, Schema] = {}
    todo = list(rooms)
    while todo:
        room = todo.pop()
        if room in found:
            continue
        found[room] = of_room(room)
        for kind in in_toml(room):
            found[f"{room}.{kind}"] = of_kind(room, kind)
            todo += rooms_of(catalogue.get(room, kind)).values()
    return dict(sorted(found.items()))


def kind_schema(room: str, kind: str) -> Schema:
    """A whole schema, with its definitions, of the complete table of one kind."""
    table = of_kind(room, kind)
    table["required"] = ["kind", *required(catalogue.get(room, kind))]
    return {"$schema": DRAFT, **table, "$defs": definitions(list(rooms_of(catalogue.get(room, kind)).values()))}


def _plain(field: FieldInfo) -> Schema:
    """The schema of a field that holds no kind; empty where TOML has no such value. TOML has no null."""
    # Validators convert TOML's values to the annotated type. A JSON Schema cannot express what they refuse.
    bounds = [m for m in field.metadata if not type(m).__name__.endswith("Validator")]
    annotation: Any = Annotated[(field.annotation, *bounds)] if bounds else field.annotation
    schema: Schema = TypeAdapter(annotation).json_schema()
    if "anyOf" in schema:
        choices = [one for one in schema.pop("anyOf") if one.get("type") != "null"]
        schema |= choices[0] if len(choices) == 1 else {"anyOf": choices}
    return schema


def _choice(field: FieldInfo, room: str) -> Schema:
    """The schema of a field that holds one kind, or several, of a room."""
    kinds = kinds_for(field, room)
    if not is_list(field):
        return {"$ref": f"#/$defs/{room}"} if kinds == in_toml(room) else of_room(room, kinds)
    least = next((mark.min_length for mark in field.metadata if hasattr(mark, "min_length")), 0)
    alone = [kind for kind in kinds if not required(catalogue.get(room, kind))]
    # A sweep cannot set fields inside a list, so the tables in it are complete.
    return {"oneOf": [{"enum": alone}, {"type": "array", "items": complete(room, kinds), "minItems": least}]}


def _table(value: Any) -> Any:
    """A default as TOML writes it: of a kind its name, or a table with the fields that are not as by default."""
    if isinstance(value, Kind):
        own = {key: one for key, one in dump(value).items() if one != dump(type(value)()).get(key)}
        return {"kind": value.kind, **own} if own else value.kind
    return [_table(one) for one in value] if isinstance(value, tuple | list) else value
