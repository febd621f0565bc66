"""The contract of a flow: how θ moves downhill on a `Problem`, from a start to an end, in steps or in time.

>>> from simlab import flows
>>> flow = flows.GradientDescent(steps=100, step=0.1)
>>> state = flow.start(problem, theta0, Streams(0))
>>> flow.advance(problem, state, until=100, seconds=float("inf"))
>>> state.theta
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from numpy.typing import NDArray

from simlab.core.kinds import Kind
from simlab.core.rng import Streams
from simlab.core.state import State

if TYPE_CHECKING:
    from simlab.data.law import Law
    from simlab.flows.problem import Problem
    from simlab.networks.network import Trainable


@dataclass(kw_only=True)
class FlowState(State):
    """Where a flow stands. It can be saved (`arrays`) and made again (`of`) between any two calls of `advance`.

    theta: weights, in the precision of the problem.
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

    def step_size(self) -> float | None:
        """The step size η now, before the schedule's factor; None for a flow that has none."""
        return None

    def use_step_size(self, other: FlowState) -> None:
        """Go on with the step size of another state of the same flow; nothing where it has none."""


class Flow(Kind):
    """A descent loop or a solver. Every kind has a field `alpha`, the output scale of lazy training.

    clock: the field of the state that it counts by: "step", or "time" for a solver.
    is_descent: its limit of small steps is gradient flow itself; not so with momentum or noise.
    state_class: the class of its state.
    """

    lack: ClassVar[str] = "no flow"
    shown: ClassVar[tuple[str, ...]] = ("advance", "last", "start")
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

    def now(self, state: FlowState) -> float:
        """Where a state is on the flow's clock: its step, or its time."""
        return state.time if self.clock == "time" else state.step

    def check_network(self, network: Trainable, samples: int, dtype: str = "float64", data: Law | None = None) -> None:
        """Raise ValueError, one line that names the key, where the flow cannot begin with these.

        samples: number of training samples.
        dtype: precision of the flow, "float64" or "float32".
        data: law of the inputs; None where they are given as arrays.
        """

    def batch_size(self) -> int | None:
        """Samples per step; None: all."""
        return None

    def chooses_steps(self) -> bool:
        """Whether it chooses step sizes by itself on the way (``step = "auto"``), so that two networks differ in it."""
        return False

    def needs_tangent(self) -> str:
        """What asks for the tangent kernel of the network, as "flow.key = value"; empty where nothing does."""
        return ""

    def is_constant_descent(self) -> bool:
        """Whether every step is θ ← θ − η∇R over all samples, with one η."""
        return False

    def draws_fresh(self) -> bool:
        """Whether every batch is new, from the law of the data and the target."""
        return False

    def in_particle_time(self) -> bool:
        """Whether the time recorded is that of mean-field scaling, θ' = −m ∇R with m neurons, instead of θ' = −∇R."""
        return False


def check_width(network: Trainable, setting: str) -> None:
    """Raise ValueError where a step or a time in units of the width, the key and value `setting`, has no meaning."""
    if network.particle_count() is None:
        raise ValueError(f"{setting}: network.kind = {network.kind!r} has no width")
