"""list, show: what there is, and what one thing takes or holds."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from simlab.cli import _options

CLAIM_KEYS = ("STATEMENT", "SOURCE", "EXPECTED", "CONTROL", "QUICK", "FULL")


def _kinds() -> dict[str, list[str]]:
    """Room → kinds, for the rooms that have any."""
    from simlab.core import lookup

    found = {room: lookup.kinds(room) for room in lookup.rooms()}
    return {room: kinds for room, kinds in found.items() if kinds}


@click.command("list")
@click.argument("room", required=False)
@_options.as_json
def list_(room: str | None, as_json: bool) -> None:
    """List the kinds of every ROOM: experiments, networks, claims, …

    \b
    Example:
      simlab list
      simlab list claims
    """
    from simlab.core import lookup
    from simlab.core.errors import BadInput, nearest, one_of

    rooms = _kinds()
    if room is not None and room not in rooms:
        raise BadInput(f"room = {room!r}: unknown{nearest(room, rooms)} (allowed: {one_of(rooms)})")
    chosen = {name: kinds for name, kinds in rooms.items() if room in (None, name)}
    lines = {r: {kind: lookup.first_line(r, kind) for kind in kinds} for r, kinds in chosen.items()}
    if as_json:
        _options.print_json(lines)
        return
    for name, kinds in lines.items():
        click.echo(name)
        for kind, line in kinds.items():
            click.echo(f"  {kind:<20} {line}")


@click.command()
@click.argument("what")
@_options.as_json
def show(what: str, as_json: bool) -> None:
    """Show WHAT: a kind (its fields, their types and defaults), a claim, or a run directory or results.h5.

    \b
    Example:
      simlab show two_layer
      simlab show networks/two_layer
      simlab show out/quickstart
    """
    from simlab.core import lookup
    from simlab.core.constants import constants
    from simlab.core.errors import BadInput, nearest, one_of

    found = [(room, kind) for room, kinds in _kinds().items() for kind in kinds if what in (kind, f"{room}/{kind}")]
    if len(found) > 1:
        raise BadInput(f"{what!r}: there are several ({one_of(f'{room}/{kind}' for room, kind in found)})")
    if found:
        if found[0][0] == "claims":
            _show_claim(constants(*found[0], CLAIM_KEYS), as_json)
        else:
            _show_kind(lookup.get(*found[0]), lookup.examples(*found[0])[0], as_json)
    elif Path(what).exists():
        _show_results(Path(what), as_json)
    else:
        known = [kind for kinds in _kinds().values() for kind in kinds]
        if what in _kinds():
            raise BadInput(f"{what!r} is a room: `simlab list {what}` lists its kinds")
        raise BadInput(f"{what!r}: no such kind, claim or results{nearest(what, known, 0.7)}")


def _show_kind(module: Any, example: dict[str, Any], as_json: bool) -> None:
    import tomli_w

    from simlab.core.params import rooms_of

    rooms = rooms_of(module.Params)
    fields = []
    for name, field in module.Params.model_fields.items():
        kind = f"a kind of {rooms[name]}" if name in rooms else _type_name(field.annotation)
        limits = [text for mark in field.metadata if name not in rooms and (text := _limit(mark))]
        default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
        text = field.description or ""
        fields.append({"field": name, "type": kind, "allowed": limits, "default": default, "description": text})
    if as_json:
        _options.print_json({"description": inspect.getdoc(module), "fields": fields, "example": example})
        return
    click.echo(inspect.getdoc(module))
    for entry in fields:
        allowed = f" [{', '.join(entry['allowed'])}]" if entry["allowed"] else ""
        click.echo(f"  {entry['field']}: {entry['type']}{allowed}, {entry['default']}  {entry['description']}")
    kind = module.__name__.rpartition(".")[2]
    click.echo(
        "\nExample:\n" + tomli_w.dumps(example if "experiment" in example else {"kind": kind, **example}).rstrip()
    )


def _limit(mark: Any) -> str:
    """``≥ 1`` for a bound, nothing for what is no bound."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<", "min_length": "length ≥", "max_length": "length ≤"}
    return next((f"{sign} {getattr(mark, name)}" for name, sign in signs.items() if hasattr(mark, name)), "")


def _type_name(annotation: Any) -> str:
    """``float``, ``list of float [≥ 0]``"""
    from typing import Annotated, get_args, get_origin

    if get_origin(annotation) is tuple:
        inside = get_args(annotation)[0]
        limits = []
        if get_origin(inside) is Annotated:
            inside, *marks = get_args(inside)
            each = [one for mark in marks for one in getattr(mark, "metadata", [mark])]
            limits = [text for mark in each if (text := _limit(mark))]
        return f"list of {_type_name(inside)}" + (f" [{', '.join(limits)}]" if limits else "")
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _default(value: Any) -> str:
    from simlab.core.params import Params, kind_of

    if isinstance(value, Params):
        return f"default {kind_of(value)!r}"
    if isinstance(value, tuple) and value and all(isinstance(item, Params) for item in value):
        return f"default {[kind_of(item) for item in value]}"
    return f"default {value!r}"


def _show_claim(module: Any, as_json: bool) -> None:
    if as_json:
        _options.print_json({key.lower(): getattr(module, key) for key in CLAIM_KEYS})
        return
    click.echo(inspect.getdoc(module))
    for key in CLAIM_KEYS:
        value = getattr(module, key)
        click.echo(f"\n{key.lower()}: {', '.join(value) if isinstance(value, tuple) else value}")


def _show_results(path: Path, as_json: bool) -> None:
    from simlab.record.reader import Results

    results = Results(path)
    if not as_json:
        click.echo(repr(results))
        return
    _options.print_json(
        {
            "path": str(results.path),
            "attributes": {key: _plain(value) for key, value in results.attrs.items()},
            "datasets": {
                name: {
                    "dims": dims,
                    "shape": results[name].shape,
                    **{key: _plain(value) for key, value in results.describe(name).items()},
                }
                for name, dims in results.dims.items()
            },
        }
    )


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


COMMANDS = {"list": list_, "show": show}
