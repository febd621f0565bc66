"""new: a bundled spec to start from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from simlab.cli import _options, _text


def _names() -> list[str]:
    from simlab.lab import bundled

    return bundled.names()


complete_runs = _options.completing(_names)


@click.command(short_help="Write a bundled spec, to start one of your own.")
@click.argument("name", required=False, shell_complete=complete_runs)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to this new file.")
@_options.as_json
def new(name: str | None, output: Path | None, as_json: bool) -> None:
    """Write the bundled spec NAME, comments and all, to start one of your own from; without NAME, list them.

    \b
    Example:
      simlab new quickstart > mine.toml
      simlab new lazy_training -o mine.toml
    """
    from simlab.core.errors import BadInput
    from simlab.lab import bundled

    if name is None:
        if output is not None:
            raise BadInput(f"--output {output}: name the spec to write (`simlab list runs` lists them)")
        print_runs(as_json)
        return
    spec = bundled.get(name)
    if output is not None:
        _write_new(output, spec.path.read_bytes())
    if as_json:
        _options.print_json({"name": spec.name, "output": output and str(output), "text": spec.text})
    elif output is not None:
        click.echo(str(output))
    elif sys.stdout.isatty():
        click.echo(spec.text, nl=False)
    else:  # a TOML file is UTF-8, whatever the terminal's encoding
        sys.stdout.flush()
        sys.stdout.buffer.write(spec.path.read_bytes())


def print_runs(as_json: bool) -> None:
    """Every bundled spec with its question and its minutes."""
    from simlab.lab import bundled

    found = [bundled.get(name) for name in bundled.names()]
    if as_json:
        _options.print_json({"runs": {spec.name: {f: getattr(spec, f) for f in bundled.FIELDS} for spec in found}})
        return
    for spec in found:
        text = f"{spec.question} [minutes: {spec.minutes.rstrip('.')}]"
        click.echo(_text.wrap(text, 21, f"{spec.name:<20} "))


def show_run(name: str, as_json: bool) -> None:
    """The head and the text of one bundled spec."""
    from simlab.lab import bundled

    spec = bundled.get(name)
    if as_json:
        fields = {field: getattr(spec, field) for field in bundled.FIELDS}
        _options.print_json({"name": spec.name, **fields, "path": str(spec.path), "text": spec.text})
        return
    click.echo(f"{spec.name}: a bundled spec; `simlab run {spec.name}` runs it, `simlab new {spec.name}` copies it\n")
    click.echo(spec.text, nl=False)


def _write_new(path: Path, content: bytes) -> None:
    from simlab.core.errors import BadInput

    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise BadInput(f"{path}: exists, and is not overwritten; give another name") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


COMMANDS = {"new": new}
