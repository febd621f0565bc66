"""The contract of a claim of the sources: what is said, what measures it, who judges, and a control that must fail."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from simlab.core.kinds import Kind
from simlab.record.reader import Results

if TYPE_CHECKING:
    import matplotlib.figure

    from simlab.claims.ledger import Judgement


class Claim(Kind):
    """One claim. It has no fields: the specs live in its own file, so that an installed package reproduces it.

    statement: what is claimed.
    source: where.
    expected: the number that shows it.
    quick, full: specs (TOML text) that measure it; the quick one with its control within 15 s on two cores.
    control: settings ("key=value") that turn either spec into the negative control, which must be judged false.
    """

    statement: ClassVar[str]
    source: ClassVar[str]
    expected: ClassVar[str]
    quick: ClassVar[str]
    full: ClassVar[str]
    control: ClassVar[tuple[str, ...]]

    @abstractmethod
    def judge(self, results: Results) -> Judgement:
        """Whether the claim is true of these numbers. It does not know whether they are the control's."""

    @abstractmethod
    def figure(self, results: Results, control: Results) -> matplotlib.figure.Figure:
        """Both in one picture."""

    def data_needed(self) -> str | None:
        """What data of the user's to give, in a sentence, where it cannot be run without them; None where it can.

        A claim that cannot be run is judged neither true nor false.
        """
        return None
