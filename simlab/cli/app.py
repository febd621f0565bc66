"""The group of commands. A command's module is imported when the command is used (or its help shown)."""

from __future__ import annotations

import importlib
from typing import Any

import click

import simlab

COMMANDS = {
    "kernel": "_kernels",
    "spectrum": "_kernels",
    "gram": "_gram",
    "run": "_run",
    "resume": "_run",
    "status": "_run",
    "collate": "_run",
    "reproduce": "_reproduce",
    "new": "_new",
    "list": "_catalogue",
    "show": "_catalogue",
    "guide": "_guide",
    "schema": "_schema",
    "bench": "_bench",
}
COMMAND = "simlab.command"


class Lazy(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"simlab.cli.{COMMANDS[cmd_name]}")
        command: click.Command = module.COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from simlab.core.errors import nearest, shown

        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            ctx.fail(f"no command {shown(name)}{nearest(name, COMMANDS)}")
        found = super().resolve_command(ctx, args)
        ctx.meta[COMMAND] = found[:2]
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Errors of a command's options know their command, also those that click raises without one."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name, command = ctx.meta.get(COMMAND, (None, None))
            if error.ctx in (None, ctx) and command is not None:
                error.ctx = click.Context(command, parent=ctx, info_name=name)
            raise


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(simlab.__version__, prog_name="simlab")
def app() -> None:
    """A laboratory for the theory of deep networks: kernels, flows, and every claim of the sources measured.

    \b
    Example:
      simlab reproduce --quick -o out/ledger    every claim, measured, judged
      simlab run quickstart -o out/q            a sweep; stop it at any time
      simlab resume out/q                       goes on where it was
      simlab new quickstart > mine.toml         a spec of your own to edit

    Options can be set in the environment: SIMLAB_RUN_WORKERS=2 is `simlab run --workers 2`.
    """
