"""show KIND: its fields in the words of TOML, and an example table."""

from __future__ import annotations

from typing import Any

import click

from simlab.cli import _options, _text

TABLES = {"data": "data", "losses": "loss"}
"""What a spec calls the table of a room, where it is not the room's name without its s."""


def show_kind(room: str, kind: str, as_json: bool) -> None:
    """Print what a kind is, its fields, and an example of its table."""
    import tomli_w

    from simlab.core import catalogue, json_schema, words
    from simlab.core.parsing import rooms_of

    cls, document = catalogue.get(room, kind), catalogue.document(room, kind)
    example = catalogue.examples(room, kind)[0]
    fields: list[dict[str, Any]] = [
        {
            "field": name,
            "type": words.of_field(cls, name),
            "required": cls.model_fields[name].is_required(),
            "default": words.default_of(cls, name),
            "description": cls.model_fields[name].description or "",
        }
        for name in cls.model_fields
    ]
    if as_json:
        schema = json_schema.of_kind(room, kind)["properties"]
        rows = [{**field, "schema": schema[field["field"]]} for field in fields]
        _options.print_json({"description": document, "fields": rows, "example": example})
        return
    click.echo(_text.document(document))
    tables = rooms_of(cls) if room == "experiments" else {}
    own = [field for field in fields if field["field"] not in tables]
    _print_fields("\nFields:" if not tables else "\nFields of [experiment], beside kind, seed and threads:", own)
    _print_fields("\nTables of their own:", [field for field in fields if field["field"] in tables])
    click.echo("\nExample:\n" + _text.toml(tomli_w.dumps(_in_a_spec(room, kind, example)).strip()))


def _print_fields(title: str, fields: list[dict[str, Any]]) -> None:
    if not fields:
        return
    click.echo(title)
    longest = min(20, max(len(field["field"]) for field in fields)) + 4
    for field in fields:
        first = f"  {field['field']}".ljust(longest)
        click.echo(_text.wrap(f"{field['type']}; {field['default']}", longest, first))
        if field["description"]:
            click.echo(_text.wrap(field["description"], longest))


def _in_a_spec(room: str, kind: str, example: dict[str, Any]) -> dict[str, Any]:
    """As it stands in a spec: an experiment's example is one already, observables are a list."""
    if room == "experiments":
        return example
    table = {"kind": kind, **example}
    return {"observables": [table]} if room == "observables" else {TABLES.get(room, room.removesuffix("s")): table}
