"""The contract of an experiment: what one point of a sweep computes.

>>> work = experiment.prepare(streams)                 # data, Gram matrices: derived again after a stop, never saved
>>> state = experiment.start(work, streams)            # or experiment.restore(arrays), the state as it was saved
>>> while not experiment.finished(state):
...     columns = experiment.advance(work, state)      # about ADVANCE_SECONDS of work
...     arrays = state.arrays()                        # what a checkpoint keeps

An experiment that computes all in one go is a `OneShot`; one that follows a flow is a `following.Followed`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.core.kinds import Kind
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.record.schema import Output

Columns = dict[str, NDArray[Any]]
"""Recorded name → its new rows, or its value where it is recorded once."""
ADVANCE_SECONDS = 0.5
"""How long one call of `advance` works before control returns."""


class Experiment(Kind):
    """What one point computes. Fields that are kinds are tables of the spec, the others keys of [experiment].

    examples: small specs, each a dict of tables, that `simlab.experiments.check` and the tests run.
    """

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
        """Work for about ADVANCE_SECONDS, change the state in place, and return what was recorded.

        An output with the dimension ``record`` gets an array of new rows, as many as every other such output; any other
        gets its value, once per point. How far one call goes may depend on the clock; no recorded number may.
        """

    @abstractmethod
    def finished(self, state: Any) -> bool:
        """Whether the point is done."""

    def to_columns(self, values: Mapping[str, Any]) -> Columns:
        """Values, or lists of rows, as arrays of the dtypes that `outputs` declares."""
        declared = self.outputs()
        return {name: np.asarray(value, declared[name].dtype) for name, value in values.items()}

    def progress(self, state: Any) -> tuple[float, float]:
        """How much is done and how much there is to do, in one unit; (0, 0) where it is not known."""
        return 0, 0

    def cost(self) -> tuple[float, float] | None:
        """Rough numbers of flops and of bytes recorded, for ``--dry-run`` and the time left; None where not known."""
        return None

    def memory(self) -> float | None:
        """Bytes of the largest arrays that a point holds, a lower bound; None where it is not known."""
        return None


def working_time() -> Iterator[None]:
    """Yields at least once, then again and again until ADVANCE_SECONDS are over: ``for _ in working_time(): …``."""
    deadline = time.monotonic() + ADVANCE_SECONDS
    yield
    while time.monotonic() < deadline:
        yield


@dataclass
class Done(State):
    """The state of an experiment that computes once.

    finished: whether it has.
    """

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
        state.finished = True
        return self.to_columns(self.measure(work))

    def finished(self, state: Done) -> bool:
        return state.finished
