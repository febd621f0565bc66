"""list, show: what there is, and what one thing takes or holds."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from simlab.cli import _options, _text


def _first_line(module: Any) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0]


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
    lines = {r: {kind: _first_line(lookup.get(r, kind)) for kind in kinds} for r, kinds in chosen.items()}
    if as_json:
        _options.print_json(lines)
        return
    for name, kinds in lines.items():
        click.echo(name)
        for kind, line in kinds.items():
            click.echo(_text.wrap(line, 24, f"  {kind:<21} "))


@click.command()
@click.argument("what")
@click.option("--whole", is_flag=True, help="Of a run: the whole spec, every value of every axis, every failure.")
@_options.as_json
def show(what: str, whole: bool, as_json: bool) -> None:
    """Show WHAT: a kind (its fields in the words of TOML), a claim, the sweep language, a run directory or results.h5.

    \b
    Example:
      simlab show two_layer
      simlab show networks/two_layer
      simlab show sweep
      simlab show out/quickstart
    """
    from simlab.core import lookup
    from simlab.core.errors import BadInput, nearest

    if what == "sweep":
        from simlab.cli._show_sweep import show_sweep

        show_sweep(as_json)
    elif any(what in (kind, f"{room}/{kind}") for room, kinds in _kinds().items() for kind in kinds):
        room, kind = find_kind(what, "show")
        if room == "claims":
            _show_claim(lookup.get(room, kind), as_json)
        else:
            from simlab.cli._show_kind import show_kind

            show_kind(room, kind, as_json)
    elif Path(what).exists():
        from simlab.cli._show_run import show_path

        show_path(Path(what), as_json, whole)
    else:
        known = [kind for kinds in _kinds().values() for kind in kinds]
        if what in _kinds():
            raise BadInput(f"{what!r} is a room: `simlab list {what}` lists its kinds")
        raise BadInput(f"{what!r}: no such kind, claim or results{nearest(what, known, 0.7)}")


def find_kind(what: str, command: str, without: tuple[str, ...] = ()) -> tuple[str, str]:
    """(room, kind) of a name or of room/kind; where several rooms have it, an error with the commands to type."""
    from simlab.core.errors import BadInput, nearest

    rooms = {room: kinds for room, kinds in _kinds().items() if room not in without}
    found = [(room, kind) for room, kinds in rooms.items() for kind in kinds if what in (kind, f"{room}/{kind}")]
    if len(found) > 1:
        ways = " or ".join(f"`simlab {command} {room}/{kind}`" for room, kind in found)
        raise BadInput(f"{what!r}: there are several; type {ways}")
    if not found:
        known = [kind for kinds in rooms.values() for kind in kinds]
        raise BadInput(f"{what!r}: no such kind{nearest(what, known, 0.7)}")
    return found[0]


def _show_claim(module: Any, as_json: bool) -> None:
    keys = ("STATEMENT", "SOURCE", "EXPECTED", "CONTROL", "QUICK", "FULL")
    if as_json:
        _options.print_json({key.lower(): getattr(module, key) for key in keys})
        return
    click.echo(_text.document(inspect.getdoc(module) or ""))
    for key in keys:
        value = getattr(module, key)
        text = f"{key.lower()}: {', '.join(value) if isinstance(value, tuple) else value}"
        click.echo("\n" + (_text.toml(text) if key in ("QUICK", "FULL") else _text.wrap(text, 2, "")))


COMMANDS = {"list": list_, "show": show}
