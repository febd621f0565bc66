"""guide: the documents that come with the package, in the terminal."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable

import click

from simlab.cli import _options


def _names() -> Iterable[str]:
    from simlab.core import guides

    return guides.guides()


@click.command()
@click.argument("name", required=False, shell_complete=_options.completing(_names))
@click.option("--section", metavar="SECTION", help="One section: 4, 4.2, or a title such as sources.")
@click.option("--contents", is_flag=True, help="The headings alone.")
@_options.as_json
def guide(name: str | None, section: str | None, contents: bool, as_json: bool) -> None:
    """Read guide NAME, or list the guides. On a terminal it is paged; piped, it is the Markdown text itself.

    \b
    Example:
      simlab guide
      simlab guide mathematics
      simlab guide mathematics --section 4
      simlab guide mathematics --contents
    """
    from simlab.core import guides
    from simlab.core.errors import BadInput

    if name is None:
        if section is not None or contents:
            raise BadInput("guide: --section and --contents need the name of a guide (simlab guide lists them)")
        _list(guides.guides(), as_json)
        return
    text = guides.read(name)
    if section is not None:
        text = guides.section(text, section)
    found = guides.headings(text)
    if as_json:
        headings = [{"section": heading.name, "title": heading.title} for heading in found]
        _options.print_json({"guide": name, "headings": headings, **({} if contents else {"text": text})})
    elif contents:
        for heading in found:
            number = f"{heading.number} " if heading.number else ""
            click.echo("  " * (heading.level - 2) + number + heading.title)
    else:
        _show(text)


def _list(found: dict[str, str], as_json: bool) -> None:
    if as_json:
        _options.print_json(found)
        return
    width = max(map(len, found), default=0) + 2
    for name, line in found.items():
        text = f"{name:<{width}}{line}"
        click.echo(text if len(text) < 80 else click.wrap_text(text, 79, subsequent_indent=" " * width))


def _show(text: str) -> None:
    """Through a pager where the text is longer than the terminal."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    shown = _styled(text) if colour else text
    if text.count("\n") < shutil.get_terminal_size().lines:
        click.echo(shown, nl=False, color=colour)
        return
    if colour and "R" not in (flags := os.environ.get("LESS", "")):
        os.environ["LESS"] = f"{flags} -R".strip()  # without it less prints the codes of bold text
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is the pager's while it is open
    try:
        click.echo_via_pager(shown.rstrip("\n"), color=colour)  # adds the last line end itself
    finally:
        signal.signal(signal.SIGINT, before)


def _styled(text: str) -> str:
    """Headings and marked words in bold and italics; indented formulas as they are."""
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            line = click.style(line.lstrip("# "), bold=True, underline=not line.startswith("###") or None)
        elif not line.startswith("    "):
            line = re.sub(r"\*\*(.+?)\*\*", lambda m: click.style(m[1], bold=True), line)
        lines.append(line)
    # Italics may run over the end of a line, formulas hold no such pair: a star at a word's edge, and its partner.
    parts = re.split(r"(\n\n+)", "\n".join(lines))
    marked = [part if part.startswith("    ") else _italics(part) for part in parts]
    return "".join(marked) + "\n"


def _italics(part: str) -> str:
    return re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", lambda m: click.style(m[1], italic=True), part)


COMMANDS = {"guide": guide}
