"""The contract of an experiment: what one point of a sweep computes. DESIGN §3.

The life of a point: ``prepare`` → work, ``start`` → state, then ``advance`` until ``finished``. Work (data, Gram
matrices) can be derived again and is never saved; the state is saved at any time between two calls of ``advance``, and
``restore`` makes it from what was saved.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from simlab.core.kinds import Kind
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.record.schema import Output

Columns = dict[str, NDArray[Any]]
"""Recorded name → its new rows, or its value where it is recorded once"""


class Experiment(Kind):
    """What one point computes. Fields that are kinds are tables of the spec, the others keys of [experiment]."""

    lack: ClassVar[str] = "no experiment"

    @abstractmethod
    def outputs(self) -> dict[str, Output]:
        """Recorded name → dimensions, coordinates, unit and description."""

    @abstractmethod
    def prepare(self, streams: Streams) -> Any:
        """The work: everything that can be derived again."""

    @abstractmethod
    def start(self, work: Any, streams: Streams) -> State:
        """The state at the start."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, Any]) -> State:
        """The state whose `arrays()` these are."""

    @abstractmethod
    def advance(self, work: Any, state: Any) -> Columns:
        """About half a second of work; how far it goes may depend on the clock, no recorded number may."""

    @abstractmethod
    def finished(self, state: Any) -> bool:
        """Whether the point is done."""

    def progress(self, state: Any) -> tuple[float, float]:
        """How much is done, of how much; (0, 0): not known."""
        return 0, 0

    def cost(self) -> tuple[float, float] | None:
        """Flops and bytes recorded, roughly; None: not known."""
        return None

    def memory(self) -> float | None:
        """Bytes of the largest arrays; None: not known."""
        return None


@dataclass
class Done(State):
    """The state of an experiment that computes once."""

    finished: bool = False


class OneShot(Experiment):
    """An experiment that computes once: `measure` and nothing else."""

    @abstractmethod
    def measure(self, streams: Streams) -> dict[str, Any]:
        """Recorded name → value."""

    def prepare(self, streams: Streams) -> Streams:
        return streams

    def start(self, work: Streams, streams: Streams) -> Done:
        return Done()

    def restore(self, arrays: Mapping[str, Any]) -> Done:
        return Done.of(arrays)

    def advance(self, work: Streams, state: Done) -> Columns:
        import numpy as np

        state.finished = True
        return {name: np.asarray(value) for name, value in self.measure(work).items()}

    def finished(self, state: Done) -> bool:
        return state.finished
