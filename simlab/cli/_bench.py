"""bench: the benchmarks of a checkout, side by side with peers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from simlab.cli import _options, _text


@click.command(context_settings={"ignore_unknown_options": True}, short_help="Run a benchmark of the checkout.")
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@_options.as_json
def bench(name: str | None, arguments: tuple[str, ...], as_json: bool) -> None:
    """Run benchmark NAME of the checkout that simlab was installed from, or list them; ARGUMENTS are its own.

    \b
    Example:
      simlab bench
      simlab bench kernels gram --rounds 3
    """
    import subprocess

    from simlab.core.errors import BadInput, SimlabError, nearest, one_of, shown
    from simlab.core.sources import PACKAGE

    home = PACKAGE.parent / "tools" / "bench"
    found = {path.stem: path for path in sorted(home.glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")}
    if not found:
        raise SimlabError("benchmarks are in tools/bench of a checkout, and simlab was installed without one")
    if name is None:
        lines = {stem: _first_line(path) for stem, path in found.items()}
        if as_json:
            _options.print_json(lines)
        else:
            for stem, line in lines.items():
                click.echo(_text.wrap(line, 11, f"{stem:<10} "))
        return
    if name not in found:
        raise BadInput(f"benchmark = {shown(name)}: unknown{nearest(name, found)} (allowed: {one_of(found)})")
    command = [sys.executable, str(found[name]), *arguments, *(["--json"] if as_json else [])]
    sys.exit(subprocess.run(command).returncode)


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition('"""')[2].partition("\n")[0]


COMMANDS = {"bench": bench}
