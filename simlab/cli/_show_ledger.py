"""show LEDGER: the verdicts that `simlab reproduce` wrote, one line each; of one claim, all that was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from simlab.cli import _options, _text

SIZES = ("quick", "full")


def is_ledger(path: Path) -> bool:
    """A claim's directory, a ledger of one size, or the directory that holds them."""
    return any(
        (path / name).is_file() for name in ("verdict.json", "ledger.json", *(f"{s}/ledger.json" for s in SIZES))
    )


def show_ledger(path: Path, as_json: bool) -> None:
    """Print the verdicts of a ledger, or all that was measured of one claim."""
    if (path / "verdict.json").is_file():
        _show_verdict(_read(path / "verdict.json"), as_json)
        return
    homes = [path] if (path / "ledger.json").is_file() else [path / size for size in SIZES]
    rows = [(home, row) for home in homes for row in _rows(home)]
    if as_json:
        _options.print_json([row for _, row in rows])
    else:
        _print_lines(rows)


def _rows(home: Path) -> list[dict[str, Any]]:
    from simlab.claims.ledger import read_ledger

    return read_ledger(home / "ledger.json")


def _read(path: Path) -> dict[str, Any]:
    from simlab.claims.ledger import as_written_now
    from simlab.core.errors import BadInput

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return as_written_now(found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadInput(f"{path}: not a verdict of simlab; `simlab reproduce` writes it anew") from None


def _print_lines(rows: list[tuple[Path, dict[str, Any]]]) -> None:
    from simlab.claims.ledger import Verdict, tally
    from simlab.cli._verdicts import line

    if not rows:
        click.echo("no claim was judged yet")
        return
    longest = max(len(row["claim"]) for _, row in rows)
    for home, row in rows:
        verdict = home / row["claim"] / "verdict.json"
        short = _read(verdict).get("short", "") if verdict.is_file() else ""
        click.echo(line(Verdict(row, short, None, False), longest, _text.width()))
    click.echo(tally([row for _, row in rows]))


def _show_verdict(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        _options.print_json(found)
        return
    words = {True: "holds", False: "does not hold", None: "not run"}
    control = {"refused": ", its control was refused", "accepted": ", its control was ACCEPTED", None: ""}
    click.echo(f"{found['claim']}: {words[found['holds']]}{control[found['control']]}")
    texts = {key: found.get(key) for key in ("statement", "source", "expected", "measured")}
    texts["control measured"] = found.get("control_measured")
    for key, text in texts.items():
        if text:
            click.echo("\n" + _text.wrap(f"{key}: {text}", 2, ""))
