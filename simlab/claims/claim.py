"""The contract of a claim of the sources: what is said, what measures it, who judges, and a control that must fail."""

from __future__ import annotations

import sys
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from simlab.core.kinds import Kind
from simlab.record.reader import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

SHORT_COLUMNS = 46
"""Columns of 80 that the mark, the longest name and the seconds of a claim leave to its deciding figure."""


@dataclass(frozen=True)
class Judgement:
    """A judge's verdict.

    holds: whether the claim is true of the results; None: not run.
    measured: every figure that the verdict rests on, in words.
    numbers: the numbers behind it, ready for JSON.
    short: the figure that decides, in at most `SHORT_COLUMNS` columns; left out: as much of `measured` as fits.
    """

    holds: bool | None
    measured: str
    numbers: dict[str, Any]
    short: str = ""


class Claim(Kind):
    """One claim. It has no fields: the specs live in its own file, so that an installed package reproduces it.

    statement: what is claimed.
    source: where.
    expected: the number that shows it.
    quick, full: specs (TOML text) that measure it; the quick one with its control within 15 s on two cores.
    control: settings ("key=value") that turn either spec into the negative control, which must be judged false.
    """

    lack: ClassVar[str] = "no claim"
    shown: ClassVar[tuple[str, ...]] = (
        "statement", "source", "expected", "quick", "full", "control", "judge", "figure", "data_needed",
    )  # fmt: skip
    statement: ClassVar[str]
    source: ClassVar[str]
    expected: ClassVar[str]
    quick: ClassVar[str]
    full: ClassVar[str]
    control: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # The docstring of a claim's file explains the claim: `help` and `simlab show` print it.
        cls.__doc__ = cls.__doc__ or sys.modules[cls.__module__].__doc__

    @abstractmethod
    def judge(self, results: Results) -> Judgement:
        """Whether the claim is true of these numbers. It does not know whether they are the control's."""

    @abstractmethod
    def figure(self, results: Results, control: Results) -> Picture:
        """Both in one picture."""

    def data_needed(self) -> str | None:
        """What data the user must give, in a sentence, where the claim cannot be run without them; None where it can.

        A claim that cannot be run is judged neither true nor false.
        """
        return None
