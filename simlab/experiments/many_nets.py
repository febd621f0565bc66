"""Experiments on many random nets of one width, drawn one after another, against their limit of infinite width.

A kind defines `limit` (the matrix to compare with), `empty_state`, `measure_net` (what is kept of one net) and
`summarise` (what is recorded, of all of them). Streams: ``data`` (inputs), ``init`` (nets).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.data.law import Law
from simlab.experiments.experiment import Columns, Experiment, working_time
from simlab.networks.network import Trainable

Floats = NDArray[np.float64]


class Work(NamedTuple):
    """What can be derived again.

    X: the fixed inputs, (points, d).
    limit: the matrix that those of the nets tend to, (points, points).
    """

    X: Floats
    limit: Floats


@dataclass(kw_only=True)
class NetsState(State):
    """The nets so far.

    drawn: number of nets drawn and measured.
    rng: draws the next net.
    """

    drawn: int = 0
    rng: np.random.Generator


class RandomNets(Experiment):
    """Statistics of many random nets.

    state_class: the class of its state.
    """

    state_class: ClassVar[type[NetsState]]

    draws: int = Field(description="number of independent nets")
    points: int = Field(description="number of fixed inputs")
    data: Law = Field(description="law of the inputs")
    network: Trainable = Field(description="the nets")

    @abstractmethod
    def limit(self, X: Floats) -> Floats:
        """The matrix of infinite width at the inputs, (points, points)."""

    @abstractmethod
    def empty_state(self, rng: np.random.Generator) -> NetsState:
        """The state before the first net, with room for all of them."""

    @abstractmethod
    def measure_net(self, work: Work, state: Any, theta: Floats) -> None:
        """Keep what is needed of the net with these weights, as number ``state.drawn``."""

    @abstractmethod
    def summarise(self, limit: Floats, state: Any) -> dict[str, Any]:
        """Recorded name → value, of all nets."""

    def prepare(self, streams: Streams) -> Work:
        X = self.data.sample(self.points, streams["data"])
        return Work(X, self.limit(X))

    def start(self, work: Work, streams: Streams) -> NetsState:
        return self.empty_state(streams["init"])

    def restore(self, arrays: Mapping[str, Any]) -> NetsState:
        return self.state_class.of(arrays)

    def advance(self, work: Work, state: NetsState) -> Columns:
        for _ in working_time():
            self.measure_net(work, state, self.network.initialise(work.X.shape[1], state.rng))
            state.drawn += 1
            if self.finished(state):
                return self.to_columns(self.summarise(work.limit, state))
        return {}

    def finished(self, state: NetsState) -> bool:
        return state.drawn == self.draws

    def progress(self, state: NetsState) -> tuple[float, float]:
        return state.drawn, self.draws
