"""What a flow descends on: a loss with its gradient, and the arrays that they need.

    R_α(θ) = R(α f_θ)/α²,   R(f) = (1/n) Σ_i ℓ(f(x_i), y_i)     (MATH §6, §10)

The gradient is any compiled function of the signature `networks.signature.GRADIENT`, which gives R and ∇R: a flow
divides by α². Everything here can be derived again and is never saved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.blas import one_blas_thread
from simlab.core.crew import Crew
from simlab.core.errors import BadInput
from simlab.losses.loss import Loss
from simlab.losses.squared import Squared
from simlab.networks.bound import Bound
from simlab.networks.signature import Goal, Net, Rows

Array = NDArray[Any]
LIMIT = 1e8
"""A loss above this times the larger of the first loss and the target's mean square has diverged."""
FIRST_STEPS_PER_SECOND = 1e3
"""A guess, until a stretch of steps has been timed."""

ENDINGS = {
    0: "ran to its end",
    1: "loss not finite",
    2: f"loss above {LIMIT:.0e} times the larger of the first loss and the target's mean square",
    3: "the solver could not make its step small enough",
    4: "the solver made as many steps as it may (flow.max_steps)",
}
GOING, NOT_FINITE, BEYOND, SOLVER_FAILED, TOO_MANY_STEPS = ENDINGS


@dataclass
class Problem:
    """A loss R_α(θ) with its gradient.

    gradient: compiled, R and ∇R.
    act: compiled activation.
    net: θ → the network with these weights, as `gradient` takes it.
    X: inputs, (n, d).
    y: labels, (n, c), as the loss takes them.
    alpha: output scale α.
    trained: the part of θ that moves.
    scratch: number of rows → number of floats of scratch space that `gradient` needs.
    loss_kind: ℓ.
    bound: the network with push and pull, where there is one.
    width: number m of particles of mean-field scaling, where there is one.
    fresh: (n, rng) → n new samples (X, y) of the data's law and the target, where there is a law.

    What a flow keeps in this process, on which no recorded number depends:

    crew: how fast the last stretches of steps were, on how many threads.
    chunk: the fresh samples last drawn, with what they were drawn for.
    buffers: name → array, used again from call to call.
    """

    gradient: Any
    act: Any
    net: Callable[[Array], Net]
    X: Array
    y: Array
    alpha: float
    trained: range
    scratch: Callable[[int], int]
    loss_kind: Loss = field(default_factory=Squared)
    bound: Bound | None = None
    width: int | None = None
    fresh: Callable[[int, np.random.Generator], tuple[Array, Array]] | None = None
    crew: Crew = field(default_factory=lambda: Crew(FIRST_STEPS_PER_SECOND))
    chunk: tuple[Any, tuple[Array, Array, np.random.Generator]] | None = None
    buffers: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.X = np.ascontiguousarray(self.X)
        self.y = self.column(self.y)

    @classmethod
    def of(cls, bound: Bound, X: Array, y: Array, alpha: float, loss: Loss | None = None, **more: Any) -> Problem:
        """The loss of a network on samples X (n, d), y (n,) or (n, c); squared where no other is given.

        y: labels as the loss takes them, already encoded (`Loss.encode`).
        """
        checks.instance(bound, "bound", Bound, "a network made ready, a simlab.networks.bound.Bound")
        X = checks.matrix(X, dim=bound.dim, dtype=bound.dtype)
        y = checks.array(y, "y", ndim=(1, 2), dtype=bound.dtype)
        if y.size != len(X) * bound.loops.outputs or len(y) != len(X):
            raise BadInput(f"y has shape {y.shape}: the network has {bound.loops.outputs} outputs for {len(X)} inputs")
        alpha = checks.number(alpha, "alpha", above=0)
        return cls(
            gradient=bound.gradient,
            act=bound.act,
            net=bound.net,
            X=X,
            y=y,
            alpha=alpha,
            trained=bound.trained,
            scratch=bound.loops.scratch,
            loss_kind=Squared() if loss is None else loss,
            bound=bound,
            **more,
        )

    def weights(self, theta0: Array) -> Array:
        """θ at the start, a copy in the flow's precision."""
        size = None if self.bound is None else self.bound.loops.size
        theta = checks.array(theta0, "theta0", ndim=1, dtype=self.dtype)
        if size is not None and theta.size != size:
            raise BadInput(f"theta0 has shape {theta.shape}: must be ({size},), as the network's weights")
        return np.array(theta)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.X.dtype

    def column(self, y: Array) -> Array:
        """Values as the compiled loops take them: (n, c), in the flow's precision."""
        return np.ascontiguousarray(np.reshape(y, (len(y), -1)), dtype=self.dtype)

    @property
    def rows(self) -> Rows:
        """The samples, as compiled functions take them."""
        return Rows(self.X, self.y)

    @property
    def goal(self) -> Goal:
        """The mean of the loss, as compiled functions take it."""
        return Goal(self.dtype.type(self.alpha), 1, self.loss_kind.numbers())

    @property
    def span(self) -> tuple[int, int]:
        """First and one past the last trained entry of θ."""
        return self.trained.start, self.trained.stop

    @property
    def part(self) -> slice:
        """The trained part of θ."""
        return slice(*self.span)

    def buffer(self, name: str, size: int | tuple[int, ...]) -> Array:
        """An array of zeros made once and used again."""
        shape = (size,) if isinstance(size, int) else size
        if name not in self.buffers or self.buffers[name].shape != shape:
            self.buffers[name] = np.zeros(shape, self.dtype)
        return self.buffers[name]

    def loss_and_gradient(self, theta: Array, out: Array) -> float:
        """R(θ); ∇R, not divided by α², goes to out[trained]."""
        scratch = self.buffer("scratch", self.scratch(len(self.X)))
        loss, _ = self.loss_kind.tile()
        with one_blas_thread():
            return float(self.gradient(self.act, loss, self.net(theta), self.rows, self.goal, out, scratch))

    def loss(self, theta: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return self.loss_and_gradient(theta, self.buffer("grad", theta.size))

    def limit(self, first: float) -> float:
        """The loss beyond which a flow with this first loss has diverged; none where both it and the target are 0."""
        found = LIMIT * max(first, float(np.mean(np.sum(np.square(self.y, dtype=np.float64), axis=1))))
        return found if 0.0 < found < np.inf else np.inf


def ending_of(loss: float, limit: float) -> int:
    """The code of a loss that ends a flow, or GOING."""
    if not np.isfinite(loss):
        return NOT_FINITE
    return BEYOND if loss > limit else GOING
