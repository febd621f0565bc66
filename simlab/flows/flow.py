"""The contract of a flow: how θ moves downhill on a `Problem`, from a start to an end, in steps or in time."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from numpy.typing import NDArray

from simlab.core.kinds import Kind
from simlab.core.rng import Streams
from simlab.core.state import State

if TYPE_CHECKING:
    from simlab.flows.problem import Problem


@dataclass
class FlowState(State):
    """Where a flow stands.

    theta: weights.
    step: number of steps made.
    time: time passed; of a descent the sum of the step sizes.
    limit: loss beyond which the flow has diverged.
    ending: a key of `flows.problem.ENDINGS`; 0 while it goes on.
    """

    theta: NDArray[Any]
    step: int
    time: float
    limit: float
    ending: int


class Flow(Kind):
    """A descent loop or a solver. Every kind has a field `alpha`, the output scale of lazy training.

    clock: what it counts: "step", or "time" for a solver.
    is_descent: its limit of small steps is gradient flow itself; not so with momentum or noise.
    state_class: the class of its state.
    """

    lack: ClassVar[str] = "no flow"
    clock: ClassVar[Literal["step", "time"]] = "step"
    is_descent: ClassVar[bool] = True
    state_class: ClassVar[type[FlowState]] = FlowState

    @abstractmethod
    def output_scale(self) -> float:
        """α, which multiplies the network's output in the loss R(αf)/α²."""

    @abstractmethod
    def last(self) -> float:
        """The last step, or time."""

    @abstractmethod
    def start(self, problem: Problem, theta0: NDArray[Any], streams: Streams) -> FlowState:
        """The state at the start. Raises BadInput where the flow cannot begin."""

    @abstractmethod
    def advance(self, problem: Problem, state: Any, until: float, seconds: float) -> None:
        """Go on in place until `until` (a step, or a time), an ending, or until about `seconds` are over.

        Where it stops may depend on the clock of the machine, nothing else may.
        """

    def batch_size(self) -> int | None:
        """Samples per step; None: all."""
        return None

    def is_constant_descent(self) -> bool:
        """Whether every step is θ ← θ − η∇R over all samples, with one η."""
        return False

    def draws_fresh(self) -> bool:
        """Whether every batch is new, from the law of the data and the target."""
        return False

    def is_layerwise(self) -> bool:
        """Whether layers are trained one after another."""
        return False

    def in_particle_time(self) -> bool:
        """Whether steps, or time, are in units of the network's width."""
        return False
