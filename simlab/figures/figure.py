"""The contract of a figure: results → picture, from results.h5 alone and without a display."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from simlab.core.kinds import Kind
from simlab.record.reader import Results
from simlab.record.schema import Output

if TYPE_CHECKING:
    import matplotlib.figure


class Figure(Kind):
    """A way to draw the results of a run."""

    lack: ClassVar[str] = "no figure"

    @abstractmethod
    def check(self, outputs: Mapping[str, Output]) -> None:
        """Raise BadInput where the figure names what the run does not record."""

    @abstractmethod
    def draw(self, results: Results) -> matplotlib.figure.Figure:
        """The picture."""
