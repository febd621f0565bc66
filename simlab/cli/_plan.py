"""What `simlab run --dry-run` prints: the points of a sweep, and what it would take."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from simlab.cli import _text
from simlab.cli._encoding import can_print
from simlab.cli._progress import clock
from simlab.lab.estimate import Estimate, estimate
from simlab.lab.needs import size
from simlab.lab.options import RunOptions

if TYPE_CHECKING:
    from simlab.lab.spec import Spec
    from simlab.lab.sweep import Sweep

LISTED_POINTS = 200
WRITTEN_POINTS = 10_000  # by one call


def print_plan(spec: Spec, workers: int | None, as_json: bool) -> None:
    """List the points, and say what the run would take."""
    used = RunOptions(workers=workers).worker_count(spec)
    guess = estimate(spec, used)
    if as_json:
        _print_json(spec, used, guess)
        return
    sweep = spec.sweep
    shown = sweep.points if sweep.points <= LISTED_POINTS else LISTED_POINTS // 2
    for point in range(shown):
        click.echo(_text.wrap(sweep.label(point), 8, f"{point:>6}  "))
    if shown < sweep.points:
        click.echo(f"     …  {sweep.points - shown} more points; --json lists them all")
    recorded = "unknown size" if guess.nbytes is None else size(guess.nbytes)
    click.echo(
        f"{sweep.points} points, about {clock(guess.seconds)} on {used} workers (rough), {recorded} recorded;\n"
        "nothing was written"
    )
    if guess.memory:
        free = f"{size(guess.free)} are free"
        if guess.memory > guess.free:
            free += ": it cannot be run here"
        elif guess.memory * used > guess.free:
            free += f": use at most {int(guess.free // guess.memory)} of {used} workers (--workers)"
        click.echo(f"memory: at least {size(guess.memory)} for the largest point; {free}")


def _print_json(spec: Spec, workers: int, guess: Estimate) -> None:
    """The text of `json.dumps(…, indent=1)`, written as it is made: a million points are half a gigabyte of objects."""
    head: dict[str, Any] = {
        "seed": spec.seed,
        "workers": workers,
        "seconds": guess.seconds,
        "bytes": guess.nbytes,
        "memory": guess.memory,
        "memory_free": guess.free,
        "points": [],
    }
    values = [value for group in spec.sweep.groups for key in group for value in (key, *spec.sweep.axes[key])]
    ascii_only = not all(can_print(_json(value, False)) for value in values if not isinstance(value, int | float))
    click.echo(_json(head, ascii_only).removesuffix("]\n}"))
    texts = _points(spec.sweep, ascii_only)
    for first in range(0, spec.sweep.points, WRITTEN_POINTS):
        last = first + WRITTEN_POINTS >= spec.sweep.points
        click.echo(
            ",\n".join(text for _, text in zip(range(WRITTEN_POINTS), texts, strict=False)) + ("" if last else ",")
        )
    click.echo(" ]\n}")


def _points(sweep: Sweep, ascii_only: bool) -> Iterator[str]:
    """The JSON of every point, indented as inside the list."""

    def one(key: str, value: Any) -> str:
        text = textwrap.indent(_json(value, ascii_only), "    ").lstrip(" ")
        return f"    {_json(key, ascii_only)}: {text}"

    groups = [
        [",\n".join(one(key, sweep.axes[key][i]) for key in group) for i in range(len(sweep.axes[group[0]]))]
        for group in sweep.groups
    ]
    for point in range(sweep.points):
        inside = ",\n".join([texts[i] for texts, i in zip(groups, sweep.position(point), strict=False)])
        values = f"{{\n{inside}\n   }}" if inside else "{}"
        yield f'  {{\n   "point": {point},\n   "seed_index": {sweep.seed_index(point)},\n   "values": {values}\n  }}'


def _json(value: Any, ascii_only: bool) -> str:
    return json.dumps(value, indent=1, ensure_ascii=ascii_only)
