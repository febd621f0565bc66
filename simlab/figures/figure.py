"""The contract of a figure: results → picture, from results.h5 alone and without a display."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from simlab.core.errors import BadInput
from simlab.core.kinds import Kind
from simlab.record.reader import Results
from simlab.record.schema import Output

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


class Figure(Kind):
    """A way to draw the results of a run, chosen by the [figure] table of a spec.

    needs: recorded names that it always draws, whatever its fields are.
    """

    lack: ClassVar[str] = "no figure"
    shown: ClassVar[tuple[str, ...]] = ("needs", "check", "draw")
    needs: ClassVar[tuple[str, ...]] = ()

    def check(self, outputs: Mapping[str, Output]) -> None:
        """Raise BadInput where the figure draws a name that the run does not record.

        outputs: name → description and dimensions, of everything that the run records.
        """
        for name in self.needs:
            if name not in outputs:
                raise BadInput(f"figure: this run does not record {name}, which {self.kind} draws")

    @abstractmethod
    def draw(self, results: Results) -> Picture:
        """The picture, matplotlib's own object."""
