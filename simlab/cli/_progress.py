"""Progress on standard error: a bar on a terminal, a line every few seconds elsewhere, nothing with --quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from simlab.lab.pace import Snapshot

LINE_SECONDS = 5.0


def clock(seconds: float | None) -> str:
    """``1:02:03``; ``-`` when unknown."""
    if seconds is None:
        return "-"
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


class Display:
    """Shows snapshots and remarks. Use as a context manager; call it with a snapshot."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.bar: Any = None
        self.tasks: list[Any] = []
        self.head: Callable[[], tuple[str, float, float, str]] | None = None
        """What is above the points of one run: a row of label, done, total and text."""
        self.last = time.monotonic()

    def __enter__(self) -> Display:
        if not self.quiet and sys.stderr.isatty():
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
        if self.bar is not None:
            self._draw(shot)
        elif not self.quiet and time.monotonic() - self.last >= LINE_SECONDS:
            self.last = time.monotonic()
            above = [self.head()[3]] if self.head is not None else []
            self.say("; ".join([*above, _points(shot), *(f"{r.label}: {_steps(r)}" for r in shot.running)]))

    def amount(self, label: str, done: float, total: float, rate: float) -> None:
        """One piece of work that is not a sweep: `done` of `total`, so many a second."""
        left = (total - done) / rate if rate > 0 else None
        text = f"{100 * done / total:.0f} %, {quantity(rate)} {label}/s, {clock(left)} left"
        if self.bar is not None:
            self._rows([(label, done, total, text)])
        elif not self.quiet and time.monotonic() - self.last >= LINE_SECONDS:
            self.last = time.monotonic()
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
