"""Progress: a bar on a terminal, lines that stay in place in a notebook, elsewhere a line every few seconds.

On standard error, but for notebooks; nothing with --quiet.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from simlab.lab.pace import Snapshot

LINE_SECONDS = 5.0
SILENT_SECONDS = 1.0
COMPILING_SECONDS = 20.0  # what a cold cache costs most runs, on two quiet cores


def clock(seconds: float | None) -> str:
    """``1:02:03``; ``-`` when unknown; days and years where hours would be hundreds."""
    if seconds is None:
        return "-"
    if seconds > 100 * 3600:
        days = seconds / 86400
        return f"{days:.0f} days" if days < 1000 else f"{days / 365.25:.3g} years"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def quantity(value: float) -> str:
    """Three digits, whatever the size: 0.0123, 4.56, 789, 12.3k."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < 1000:
            return f"{value:.3g}{unit}"
        value /= 1000
    return f"{value:.3g}T"


def checking(quiet: bool) -> Callable[[int], None]:
    """Says how far the check of a large sweep is: a line after the first second, and every few seconds."""
    due = time.monotonic() + SILENT_SECONDS

    def say(done: int) -> None:
        nonlocal due
        if not quiet and time.monotonic() >= due:
            due = time.monotonic() + LINE_SECONDS
            print(f"simlab: checking the points of the sweep: {done} so far", file=sys.stderr, flush=True)

    return say


def notebook_display() -> Any:
    """IPython's `display` where a notebook shows what we do, else None. Needs no widgets."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):  # a terminal, also IPython's own
        return None
    return importlib.import_module("IPython.display").display


class Cell:
    """Lines below a notebook's cell that are replaced by the next ones."""

    def __init__(self, display: Any) -> None:
        self.display = display
        self.handle: Any = None

    def show(self, lines: list[str]) -> None:
        """Replace what is shown below the cell."""
        content = {"text/plain": "\n".join(lines)}
        if self.handle is None:
            self.handle = self.display(content, raw=True, display_id=True)
        else:
            self.handle.update(content, raw=True)


class Display:
    """Shows snapshots and remarks. Use as a context manager; call it with a snapshot."""

    compiling = False  # whether it was said that code is being compiled

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.bar: Any = None
        self.cell: Cell | None = None
        self.tasks: list[Any] = []
        # The row above those of one run: label, done, total, text.
        self.head: Callable[[], tuple[str, float, float, str]] | None = None
        self.last = time.monotonic()  # when a line was last printed

    def __enter__(self) -> Display:
        if not self.quiet and (display := notebook_display()) is not None:
            self.cell = Cell(display)
        elif not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn
            from rich.table import Column

            from simlab.cli import _text

            # On 80 columns the numbers of a row (52) and a bar of 10 come first, then its label.
            room = _text.width()
            label = Column(no_wrap=True, overflow="ellipsis", max_width=max(16, room - 64))
            self.bar = Progress(
                TextColumn("{task.description}", markup=False, table_column=label),
                BarColumn(bar_width=30 if room > 110 else 10),
                TextColumn("{task.fields[text]}", markup=False, table_column=Column(no_wrap=True)),
                console=Console(stderr=True),
                transient=True,
            )
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def say(self, line: str) -> None:
        """A remark, on a line of its own."""
        if self.bar is not None:
            self.bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        elif not self.quiet:
            print(line, file=sys.stderr, flush=True)

    def print(self, line: str) -> None:
        """A line of data to standard output, at once; the bar makes room for it."""
        if self.bar is not None:
            self.bar.stop()
        click.echo(line)
        sys.stdout.flush()
        if self.bar is not None:
            self.bar.start()

    def __call__(self, shot: Snapshot) -> None:
        if shot.compiling is not None and not self.compiling:  # said at once: a first run must not look hung
            self.compiling, self.last = True, -LINE_SECONDS
        if self.bar is not None:
            self._draw(shot)
        elif self.cell is not None:
            self.cell.show([_points(shot), *(f"{r.label}: {_steps(r)}" for r in shot.running)])
        elif not self.quiet and time.monotonic() - self.last >= LINE_SECONDS:
            self.last = time.monotonic()
            above = [self.head()[3]] if self.head is not None else []
            self.say("; ".join([*above, _points(shot), *(f"{r.label}: {_steps(r)}" for r in shot.running)]))

    def amount(self, label: str, done: float, total: float, rate: float) -> None:
        """One piece of work that is not a sweep: `done` of `total`, `rate` per second."""
        left = (total - done) / rate if rate > 0 else None
        text = f"{100 * done / total:.0f} %, {quantity(rate)} {label}/s, {clock(left)} left"
        if self.bar is not None:
            self._rows([(label, done, total, text)])
        elif self.cell is not None:
            self.cell.show([text])
        elif not self.quiet and time.monotonic() - self.last >= LINE_SECONDS:
            self.last = time.monotonic()
            self.say(text)

    def compiles(self, functions: int, busy: bool) -> None:
        """Say once that code is being compiled: a first training must not look hung."""
        if busy and not self.compiling and not self.quiet:
            self.compiling = True
            text = f"compiling (once, about {COMPILING_SECONDS:.0f} s)"
            if self.cell is not None:
                self.cell.show([text])
            else:
                self.say(text)

    def _draw(self, shot: Snapshot) -> None:
        rows: list[tuple[str, float, float, str]] = [self.head()] if self.head is not None else []
        rows.append(("points", shot.done + shot.failed, shot.points, _points(shot)))
        self._rows(
            [*rows, *((running.label, running.done, running.total, _steps(running)) for running in shot.running)]
        )

    def _rows(self, rows: list[tuple[str, float, float, str]]) -> None:
        while len(self.tasks) < len(rows):
            self.tasks.append(self.bar.add_task("", text=""))
        for task in self.tasks[len(rows) :]:
            self.bar.update(task, visible=False)
        for task, (label, done, total, text) in zip(self.tasks, rows, strict=False):
            self.bar.update(task, description=label, completed=done, total=total, text=text, visible=True)


def _points(shot: Snapshot) -> str:
    if shot.compiling is not None:
        usual = f", about {COMPILING_SECONDS:.0f} s" if shot.compiling.seconds <= COMPILING_SECONDS else ""
        done = f"; {shot.done}/{shot.points} points" if shot.done else ""
        return (
            f"compiling (once{usual}): {shot.compiling.functions} functions so far,"
            f" {clock(shot.compiling.seconds)}{done}"
        )
    failed = f", {shot.failed} failed" if shot.failed else ""
    return (
        f"{shot.done}/{shot.points} points{failed}, {quantity(shot.rate)}/s,"
        f" {clock(shot.elapsed)} so far, {clock(shot.remaining)} left"
    )


def _steps(running: Any) -> str:
    if not running.total:
        return "under way"
    left = (running.total - running.done) / running.rate if running.rate > 0 else None
    return f"{running.done:.0f}/{running.total:.0f} steps, {quantity(running.rate)}/s, {clock(left)} left"
