"""A claim's verdict on one line, and how long the rest of a ledger will take."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from simlab.cli import _text
from simlab.cli._encoding import can_print

if TYPE_CHECKING:
    from simlab.claims.ledger import Verdict
    from simlab.lab.pace import Snapshot

TIME_COLUMNS = 7
"""Columns of the time that a claim took."""


def line(verdict: Verdict, names: int, width: int) -> str:
    """``✓ tangent_rate  rate 0.99 to 1.00 of predicted     12.3 s``; `names` is the width of the longest name.

    A terminal that is wide enough for every measured figure gets them all, others the one that decides.
    """
    from simlab.claims.ledger import passed

    row = verdict.row
    state = None if row["holds"] is None else passed(row)
    room = width - 2 - names - 2 - 2 - TIME_COLUMNS
    before = "control accepted: " if row["control"] == "accepted" else ""
    measured = row["measured"]
    whole = measured if not before or row["holds"] is False else verdict.short
    text = before + (whole if len(before + whole) <= room else verdict.short or measured)
    taken = "" if verdict.seconds is None else duration(verdict.seconds)
    return (
        f"{_mark(state)} {row['claim']:<{names}}  {_text.abridge(text, room):<{room}}  {taken:>{TIME_COLUMNS}}".rstrip()
    )


def _mark(state: bool | None) -> str:
    plain = not can_print("✓✗–")
    mark = {True: "+" if plain else "✓", False: "x" if plain else "✗", None: "-" if plain else "–"}[state]
    if state is None or os.environ.get("NO_COLOR"):
        return mark
    return click.style(mark, fg="green" if state else "red")  # click.echo takes the colour out where it is no terminal


def duration(seconds: float) -> str:
    """``12.3 s``, ``17 min``, ``3.2 h``"""
    if seconds < 999.95:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 120 * 60 else f"{seconds / 3600:.1f} h"


def about(seconds: float) -> str:
    """``about 40 s``, ``about 3 min``, ``about 2 h``: as few digits as an estimate deserves."""
    if seconds < 55:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    return f"about {round(seconds / 60)} min" if seconds < 90 * 60 else f"about {round(seconds / 3600)} h"


class Course:
    """Which claim of how many is under way, and the time left.

    The time left is that of the claims measured so far, in the mean, for each claim that is still to come. Claims whose
    results were there already say nothing about it. Before the first one is measured nothing is known.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.judged = 0
        self.name = ""
        self._taken: list[float] = []
        self._began = time.monotonic()
        self._here = 0.0  # seconds that the run under way will take by its own account

    def begin(self, name: str) -> None:
        """The next claim is under way."""
        self.name = name
        self._began = time.monotonic()
        self._here = 0.0

    def see(self, shot: Snapshot) -> None:
        """How far its run is."""
        self._here = shot.remaining or 0.0

    def done(self, verdict: Verdict) -> None:
        """It is judged."""
        self.judged += 1
        if verdict.computed and verdict.seconds is not None:
            self._taken.append(verdict.seconds)

    def left(self) -> float | None:
        """Seconds until the last claim is judged."""
        if not self._taken:
            return None
        each = sum(self._taken) / len(self._taken)
        here = max(self._here, each - (time.monotonic() - self._began))
        return here + each * (self.total - self.judged - 1)

    def __str__(self) -> str:
        left = self.left()
        return f"claim {self.judged + 1} of {self.total}" + ("" if left is None else f", {about(left)} left")

    def head(self) -> tuple[str, float, float, str]:
        """A row of the progress display: label, claims judged, claims in all, text."""
        return self.name, self.judged, self.total, str(self)
