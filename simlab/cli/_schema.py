"""schema: the JSON Schema of specs, for editors that complete and check TOML."""

from __future__ import annotations

import click

from simlab.cli import _options


@click.command(short_help="JSON Schema of specs, for editors.")
@click.argument("kind", required=False)
def schema(kind: str | None) -> None:
    """Print the JSON Schema of a whole spec, or of the table of one KIND.

    Editors with a TOML language server (Even Better TOML, taplo) then complete keys and mark mistakes in a spec whose
    first line names the file: #:schema simlab.schema.json

    \b
    Example:
      simlab schema > simlab.schema.json
      simlab schema networks/two_layer
    """
    from simlab.cli._catalogue import find_kind

    if kind is None:
        from simlab.lab.schema import spec_schema

        _options.print_json(spec_schema())
        return
    from simlab.core.errors import BadInput, shown
    from simlab.core.json_schema import kind_schema

    room, name = find_kind(kind, "schema", without=("claims",))
    if room == "experiments":
        raise BadInput(f"{shown(kind)} is an experiment, a whole spec: `simlab schema` prints the schema of specs")
    _options.print_json(kind_schema(room, name))


COMMANDS = {"schema": schema}
