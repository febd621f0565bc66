"""list, show: what there is, and what one thing takes or holds."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from simlab.cli import _options, _text
from simlab.cli._new import print_runs, show_run

CLAIM_KEYS = ("statement", "source", "expected", "control", "quick", "full")


def _kinds() -> dict[str, list[str]]:
    """Room → kinds, for the rooms that have any."""
    from simlab.core import catalogue

    found = {room: catalogue.names(room) for room in catalogue.rooms()}
    return {room: kinds for room, kinds in found.items() if kinds}


@click.command("list", short_help="List kinds, claims and bundled specs.")
@click.argument("room", required=False)
@_options.as_json
def list_(room: str | None, as_json: bool) -> None:
    """List the kinds of every ROOM: experiments, networks, claims, …; ROOM runs lists the bundled specs.

    \b
    Example:
      simlab list
      simlab list claims
      simlab list runs
    """
    from simlab.core import catalogue
    from simlab.core.errors import BadInput, nearest, one_of, shown
    from simlab.lab import bundled

    if room == "runs":
        print_runs(as_json)
        return

    rooms = _kinds()
    if room is not None and room not in rooms:
        known = [*rooms, "runs"]
        raise BadInput(f"room = {shown(room)}: unknown{nearest(room, known)} (allowed: {one_of(known)})")
    chosen = {name: kinds for name, kinds in rooms.items() if room in (None, name)}
    lines = {r: {kind: catalogue.first_line(r, kind) for kind in kinds} for r, kinds in chosen.items()}
    if room is None:
        lines["runs"] = {name: bundled.get(name).question for name in bundled.names()}
    if as_json:
        _options.print_json(lines)
        return
    for name, kinds in lines.items():
        click.echo(name)
        for kind, line in kinds.items():
            click.echo(_text.wrap(line, 24, f"  {kind:<21} "))


@click.command(short_help="Show a kind, a claim, a spec or a run.")
@click.argument("what")
@click.option("--whole", is_flag=True, help="Of a run: the whole spec, every value of every axis, every failure.")
@_options.as_json
@_options.only_reads
def show(what: str, whole: bool, as_json: bool) -> None:
    """Show WHAT: a kind (its fields in the words of TOML), a claim, the sweep language, a bundled spec, a run directory
    or results.h5.

    \b
    Example:
      simlab show two_layer
      simlab show networks/two_layer
      simlab show sweep
      simlab show quickstart
      simlab show out/quickstart
    """
    from simlab.core.constants import constants
    from simlab.core.errors import BadInput, nearest, shown
    from simlab.lab import bundled

    name = what.removeprefix("runs/")
    if name in bundled.names() and (what != name or not _is_kind(name)):
        show_run(name, as_json)
        return

    if what == "sweep":
        from simlab.cli._show_sweep import show_sweep

        show_sweep(as_json)
    elif any(what in (kind, f"{room}/{kind}") for room, kinds in _kinds().items() for kind in kinds):
        room, kind = find_kind(what, "show")
        if room == "claims":
            _show_claim(constants(room, kind, CLAIM_KEYS), as_json)
        else:
            from simlab.cli._show_kind import show_kind

            show_kind(room, kind, as_json)
    elif Path(what).exists():
        from simlab.cli._show_run import show_path

        show_path(Path(what), as_json, whole)
    else:
        known = [*bundled.names(), *_known(_kinds(), what)]
        if what in _kinds():
            raise BadInput(f"{shown(what)} is a room: `simlab list {what}` lists its kinds")
        raise BadInput(f"{shown(what)}: no such kind, claim, spec or results{nearest(what, known, 0.7)}")


def _is_kind(name: str) -> bool:
    return any(name in kinds for kinds in _kinds().values())


def find_kind(what: str, command: str, without: tuple[str, ...] = ()) -> tuple[str, str]:
    """(room, kind) of a name or of room/kind; where several rooms have it, an error with the commands to type."""
    from simlab.core.errors import BadInput, nearest, shown

    rooms = {room: kinds for room, kinds in _kinds().items() if room not in without}
    found = [(room, kind) for room, kinds in rooms.items() for kind in kinds if what in (kind, f"{room}/{kind}")]
    if len(found) > 1:
        ways = " or ".join(f"`simlab {command} {room}/{kind}`" for room, kind in found)
        raise BadInput(f"{shown(what)}: there are several; type {ways}")
    if not found:
        raise BadInput(f"{shown(what)}: no such kind{nearest(what, _known(rooms, what), 0.7)}")
    return found[0]


def _known(rooms: dict[str, list[str]], what: str) -> list[str]:
    """Every kind, written as the user writes it: with its room where there is a slash."""
    return [f"{room}/{kind}" if "/" in what else kind for room, kinds in rooms.items() for kind in kinds]


def _show_claim(claim: Any, as_json: bool) -> None:
    from simlab.core import bibliography

    if as_json:
        cited = [source._asdict() for source in bibliography.cited(claim.source)]
        _options.print_json({**{key: getattr(claim, key) for key in CLAIM_KEYS}, "sources": cited})
        return
    click.echo(_text.document(inspect.getdoc(claim) or ""))
    for key in CLAIM_KEYS:
        value = getattr(claim, key)
        text = f"{key}: {', '.join(value) if isinstance(value, tuple) else value}"
        click.echo("\n" + (_text.toml(text) if key in ("quick", "full") else _text.wrap(text, 2, "")))
        if key == "source":
            click.echo(bibliography.describe(value, see=claim.__doc__))


COMMANDS = {"list": list_, "show": show}
