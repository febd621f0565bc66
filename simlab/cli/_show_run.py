"""show RUN: what a run directory or a results.h5 holds: its spec, axes, recorded values, failures, time and origin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simlab.cli import _options, _text

if TYPE_CHECKING:
    from simlab.lab.directory import RunDirectory
    from simlab.record.reader import Results

SPEC_LINES = 24  # shown without --whole, as the next two
SHOWN_FAILURES = 5
SHOWN_VALUES = 8  # of an axis
OWN = ("length", "status", "error")
"""What results.h5 says of the points themselves."""


def show_path(path: Path, as_json: bool, whole: bool) -> None:
    """A run directory, a results.h5, or what `simlab reproduce` wrote."""
    from simlab.cli import _show_ledger

    if _show_ledger.is_ledger(path):
        _show_ledger.show_ledger(path, as_json)
        return
    found = summary(path)
    if as_json:
        _options.print_json(found)
    else:
        _print(found, whole)


def summary(path: Path) -> dict[str, Any]:
    """Everything of a run, ready for JSON."""
    from simlab.core.errors import BadInput
    from simlab.lab.directory import RunDirectory
    from simlab.record.reader import Results, results_path

    run = RunDirectory(path if path.is_dir() else path.parent)
    begun = path.is_dir() and run.exists and not run.results.exists()
    results = None if begun else Results(results_path(path))
    found: dict[str, Any] = {"path": str(path if results is None else results.path)}
    try:
        own = run.exists and (results is None or _belongs(run, results))
    except BadInput:  # an edited or older spec.toml: results.h5 speaks for itself
        if results is None:
            raise
        own = False
    if results is not None:
        found |= _from_results(results)
    if own:
        found |= _from_directory(run)
    return found


def _belongs(run: RunDirectory, results: Results) -> bool:
    return run.read_spec(computes=False).hash == results.attrs.get("spec_hash") and results.path == run.results


def _from_results(results: Results) -> dict[str, Any]:
    import numpy as np

    from simlab.record.index import Status

    attributes = {key: _plain(value) for key, value in results.attrs.items()}
    status = np.asarray(results["status"]).ravel() if "status" in results else np.array([], dtype=int)
    errors = np.asarray(results["error"]).ravel().tolist() if "error" in results else []
    axes = {name: results[name].tolist() for name in _axes(str(attributes.get("spec", ""))) if name in results}
    return {
        "experiment": attributes.get("experiment"),
        "seed": attributes.get("seed"),
        "threads": attributes.get("threads"),
        "points": {"all": int(status.size), **{s.name.lower(): int((status == s).sum()) for s in Status}},
        "failures": [
            {"point": p, "error": e} for p, e in enumerate(errors[: status.size]) if status[p] == Status.FAILED
        ],
        "seconds": None,
        "axes": axes,
        "datasets": {name: _dataset(results, name) for name in results.dims if name not in axes and name not in OWN},
        "spec": attributes.get("spec"),
        "machine": _json(attributes.get("machine")),
        "versions": _json(attributes.get("versions")),
        "attributes": attributes,
    }


def _axes(spec: str) -> list[str]:
    """The names of a resolved spec's axes, as results.h5 has them."""
    import tomllib

    from simlab.lab.sweep import WORDS

    sweep = tomllib.loads(spec).get("sweep", {})
    return [*(key for key in sweep if key not in WORDS), *(["seed"] if "seeds" in sweep else [])]


def _from_directory(run: RunDirectory) -> dict[str, Any]:
    """What only the directory knows: how far it is, errors with their points in words, and its files' dates."""
    from simlab.record.index import Status

    spec = run.read_spec(computes=False)
    index = run.index(spec)
    status = index.status(spec.sweep.points)
    commits = [segment.path.stat().st_mtime for segment in index.segments if segment.path.exists()]
    return {
        "experiment": spec.header.kind,
        "seed": spec.seed,
        "threads": spec.threads,
        "points": {"all": spec.sweep.points, **{s.name.lower(): int((status == s).sum()) for s in Status}},
        "failures": [
            {"point": point, "at": spec.sweep.label(point), "error": failure.error}
            for point, failure in sorted(index.failed.items())
        ],
        # From the writing of spec.toml to the last commit; results.h5 holds no clock, so as to be the same each time.
        "seconds": max(0.0, max(commits) - run.spec_path.stat().st_mtime) if commits else None,
        "running": run.in_use(),
        "axes": {key: values for d in spec.sweep.dimensions for key, values in d.coords.items()},
        "spec": spec.text,
    }


def _dataset(results: Results, name: str) -> dict[str, Any]:
    """Dimensions, shape, unit, description and the values in brief."""
    from simlab.record.brief import brief

    about = {key: _plain(value) for key, value in results.describe(name).items()}
    return {"dims": results.dims[name], "shape": list(results.shape(name)), **about, **brief(results, name)}


def _plain(value: Any) -> Any:
    """An attribute as JSON has it; of a type that simlab does not write, its text."""
    import numpy as np

    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, list):
        return [_plain(one) for one in plain]
    if isinstance(plain, bytes):
        return plain.decode(errors="backslashreplace")
    return plain if isinstance(plain, str | int | float | None) else str(plain)


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text


def _print(found: dict[str, Any], whole: bool) -> None:
    from simlab.cli._verdicts import about

    points = found["points"]
    counts = [f"{points['finished']} of {points['all']} points finished"]
    counts += [f"{points[word]} {text}" for word, text in _STATES.items() if points.get(word)]
    click.echo(f"{found['path']}")
    seconds = found["seconds"]
    took = "" if seconds is None else f"; {about(seconds)} from its start to its last commit, pauses included"
    click.echo(_text.wrap(f"{found['experiment']}, {', '.join(counts)}{took}", 2))
    threads = found["threads"]
    click.echo(f"  seed {found['seed']}, {threads} thread{'' if threads == 1 else 's'} per point")
    _print_failures(found, whole)
    if found["axes"]:
        click.echo("\nAxes of the sweep:")
        for key, values in found["axes"].items():
            click.echo(_text.wrap(_axis_text(values, whole), 6, f"  {key}: "))
    if "datasets" in found:
        click.echo("\nRecorded:")
        for name, one in found["datasets"].items():
            _print_dataset(name, one)
    else:
        click.echo(f"\nNo results.h5 yet: `simlab collate {found['path']}` writes it from what is committed.")
    _print_origin(found)
    _print_spec(found, whole)


_STATES = {"unfinished": "under way", "failed": "failed", "pending": "not begun"}


def _print_failures(found: dict[str, Any], whole: bool) -> None:
    failures = found["failures"]
    shown = failures if whole else failures[:SHOWN_FAILURES]
    for failure in shown:
        where = failure.get("at", f"point {failure['point']}")
        click.echo(_text.wrap(f"failed: {where}: {failure['error']}", 4, "  "))
    if len(shown) < len(failures):
        click.echo(f"  and {len(failures) - len(shown)} more (--whole)")


def _axis_text(values: list[Any], whole: bool) -> str:
    """``13 values: 1, 1.78, … 1000``"""
    texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    if len(texts) > SHOWN_VALUES and not whole:
        texts = [*texts[: SHOWN_VALUES - 2], "…", texts[-1]]
    joined = ", ".join(texts).replace("…, ", "… ")
    return f"{len(values)} value{'' if len(values) == 1 else 's'}: {joined}"


def _print_dataset(name: str, one: dict[str, Any]) -> None:
    inside = ", ".join(f"{dim}: {size}" for dim, size in zip(one["dims"], one["shape"], strict=True))
    click.echo(_text.wrap(f"({inside})" if inside else "(a number)", 6, f"  {name} "))
    unit = f" [{one['units']}]" if one.get("units") else ""
    text = one.get("description") or one.get("long_name")
    if text:
        click.echo(_text.wrap(f"{text}{unit}", 6))
    click.echo(_text.wrap(_values(one), 6))


def _values(one: dict[str, Any]) -> str:
    """``first 0.48 to 0.52, last 1.2e-05 to 0.03``: over all points."""
    words = []
    for key in ("first", "last", "range"):
        if one.get(key) is not None:
            low, high = one[key]
            same = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
            words.append(same if key == "range" else f"{key} record {same}")
    if one.get("texts"):
        words.append(", ".join(map(str, one["texts"])))
    return ", ".join(words) or "no values"


def _print_origin(found: dict[str, Any]) -> None:
    versions, machine = found.get("versions"), found.get("machine")
    if isinstance(versions, dict):
        first = [name for name in ("simlab", "python") if name in versions]
        names = [*first, *(name for name in versions if name not in first)]
        click.echo("\n" + _text.wrap("Made with " + ", ".join(f"{name} {versions[name]}" for name in names), 2, ""))
    if isinstance(machine, dict):
        click.echo(_text.wrap("on " + ", ".join(f"{key} {value}" for key, value in machine.items()), 4, "  "))


def _print_spec(found: dict[str, Any], whole: bool) -> None:
    if not isinstance(found.get("spec"), str):
        return
    lines = found["spec"].strip().splitlines() if whole else _on_few_lines(found["spec"])
    shown = lines if whole else lines[:SPEC_LINES]
    click.echo("\nSpec, resolved:" if whole else "\nSpec, resolved (--whole: as it is stored):")
    for line in shown:
        click.echo(f"  {line if whole else _text.abridge_list(line, _text.width() - 2)}".rstrip())
    if len(shown) < len(lines):
        click.echo(f"  {_text.ellipsis()} {len(lines) - len(shown)} more lines")


def _on_few_lines(spec: str) -> list[str]:
    """A spec with one line per key, lists and inner tables included."""
    import re
    import tomllib

    from simlab.core.words import toml

    def line(key: str, value: Any) -> str:
        return f"{key if re.fullmatch('[A-Za-z0-9_-]+', key) else json.dumps(key)} = {toml(value)}"

    tables = tomllib.loads(spec)
    lines = [line(key, value) for key, value in tables.items() if not isinstance(value, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(line(key, value) for key, value in table.items())]
    return lines
