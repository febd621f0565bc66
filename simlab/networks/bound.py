"""A trainable network made ready for one input dimension and float type: its compiled loops and their arguments.

``Bound(net, dim, dtype)`` asks the network for its `Loops` and calls them on checked arrays. The compiled descent loop
of flows takes ``bound.gradient`` and its arguments instead, without the checks.

Threads: the loops divide the rows among numba's threads and call BLAS with one thread, since two pools of threads spin
against each other (4.7 → 20 ms). The number of blocks of rows depends on n alone, so that the bits do not depend on the
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import DTypeLike, NDArray

from simlab.activations.activation import Activation
from simlab.core import checks
from simlab.core.blas import one_blas_thread
from simlab.core.errors import BadInput
from simlab.core.outlined import addresses
from simlab.losses import tiles
from simlab.losses.loss import Loss
from simlab.losses.squared import Squared
from simlab.networks.network import Trainable
from simlab.networks.signature import Goal, Net, Rows
from simlab.networks.skeleton import Compiled

Array = NDArray[Any]
_finite: ContextVar[bool] = ContextVar("finite", default=True)


@contextmanager
def diverged_weights() -> Iterator[None]:
    """A context in which weights may hold NaN and infinity, so that the last record of a diverged flow can be made."""
    before = _finite.set(False)
    try:
        yield
    finally:
        _finite.reset(before)


def vector(theta: Any, name: str, size: int, dim: int, dtype: DTypeLike | None = None) -> Array:
    """θ, or a vector like it, as an array of shape (size,).

    name: what the error calls it.
    dim: dimension of the inputs, for the error.
    dtype: float type to convert to; None keeps the type.
    """
    found = checks.array(theta, name, dtype=dtype, finite=_finite.get())
    if found.shape != (size,):
        raise BadInput(f"{name} has shape {found.shape}: must be ({size},) for inputs in R^{dim}")
    return found


def weights(theta: Any, name: str = "theta", ndim: int | None = 1) -> Array:
    """Weights as an array of `ndim` dimensions (None: any). The caller checks the shape."""
    return checks.array(theta, name, ndim=ndim, dtype=None, finite=_finite.get())


def checked_start(dim: Any, rng: Any, size: Callable[[int], int]) -> int:
    """The dimension as an integer: the first line of every `initialise` and `draw`.

    Raises BadInput where dim is no dimension, rng no generator, or size(dim) weights do not fit into memory.
    """
    found = checks.dimension(dim)
    checks.generator(rng)
    checks.memory(2 * size(found), f"dim = {found}: the network's weights")
    return found


@dataclass(frozen=True)
class Loops:
    """The compiled functions of a network and their arguments.

    compiled: what `simlab.networks.skeleton.loops_over` made of the network's tile.
    activation: φ.
    sizes: integers that they need (widths, dimension, flags), packed in an order that each tile file documents.
    numbers: floats that they need (scales), packed likewise.
    size: length of θ.
    trained: index range of θ that a flow moves.
    outputs: number c of outputs.
    """

    compiled: Compiled
    activation: Activation
    sizes: NDArray[np.int64]
    numbers: NDArray[np.float64]
    size: int
    trained: range
    outputs: int = 1

    def scratch(self, n: int) -> int:
        """Reals of workspace for n rows."""
        return self.compiled.scratch(self.sizes, self.size, n)

    def in_place(self, n: int) -> bool:
        """Whether a step on n rows can change θ while it computes the gradient (`Goal.rate`)."""
        tile = self.compiled.tile
        return bool(tile.in_place and tile.blocks(self.sizes, n) == 1 and tile.rows(self.sizes, n) >= n)


class Bound:
    """The loops of one network, for inputs in R^dim and numbers of type `dtype`.

    act, phi: the compiled φ and its numbers.
    gradient, push_loop: the compiled functions of `simlab.networks.signature`.
    trained: as in `Loops`.
    """

    def __init__(self, network: Trainable, dim: int, dtype: DTypeLike = np.float64) -> None:
        self.network, self.dim, self.dtype = network, checks.dimension(dim), checks.float_type(dtype)
        self.loops: Loops = network.loops(self.dim)
        self.act, self.phi = self.loops.activation.tile()
        self.gradient = self.loops.compiled.gradient[self.dtype]
        self.push_loop = self.loops.compiled.push[self.dtype]
        self.trained = self.loops.trained
        self._numbers = np.ascontiguousarray(self.loops.numbers, dtype=self.dtype)
        self._scratch = np.empty(0, self.dtype)
        self._calls = addresses(self.loops.compiled.tile.calls, self.dtype)

    def net(self, theta: Array) -> Net:
        """The network with these weights, as compiled functions take it."""
        sizes, begin, end = self.loops.sizes, self.trained.start, self.trained.stop
        return Net(theta, sizes, self._numbers, self.phi, begin, end, numba.get_num_threads(), self._calls)

    def scratch(self, n: int) -> Array:
        """Workspace for n rows; allocated once and used again by the next call."""
        if self._scratch.size < (needed := self.loops.scratch(n)):
            self._scratch = np.empty(needed, self.dtype)
        return self._scratch

    def _checked(self, theta: Array, X: Array) -> tuple[Array, Array]:
        return self._vector(theta, "theta"), np.ascontiguousarray(checks.matrix(X, dim=self.dim, dtype=self.dtype))

    def _vector(self, theta: Array, name: str) -> Array:
        return np.ascontiguousarray(vector(theta, name, self.loops.size, self.dim, self.dtype))

    def _columns(self, values: Array, n: int, name: str) -> Array:
        finite = name == "y" or _finite.get()
        columns = checks.array(values, name, ndim=(1, 2), dtype=self.dtype, finite=finite)
        if (len(columns), columns.size) != (n, n * self.loops.outputs):
            raise BadInput(f"{name} has shape {columns.shape}: must be ({n}, {self.loops.outputs})")
        return np.ascontiguousarray(columns).reshape(n, -1)

    def value(self, theta: Array, X: Array) -> Array:
        """f(X) : (n, c)"""
        theta, X = self._checked(theta, X)
        return self._pushed(theta, theta[:0], X)

    def push(self, theta: Array, v: Array, X: Array) -> Array:
        """J v : (n, c)"""
        theta, X = self._checked(theta, X)
        return self._pushed(theta, self._vector(v, "v"), X)

    def _pushed(self, theta: Array, v: Array, X: Array) -> Array:
        out = np.empty((len(X), self.loops.outputs), self.dtype)
        with one_blas_thread():
            self.push_loop(self.act, self.net(theta), v, X, out, self.scratch(len(X)))
        return out

    def loss_and_gradient(
        self, theta: Array, X: Array, y: Array, alpha: float = 1.0, loss: Loss | None = None
    ) -> tuple[float, Array]:
        """R = (1/n) Σ_i ℓ(α f(x_i), y_i) and ∇_θ R : (size,), 0 where θ is not trained. loss: ℓ; None for squared."""
        theta, X = self._checked(theta, X)
        loss = Squared() if loss is None else loss
        # Labels of the loss are checked in float64; a single class is no fault of a batch.
        y = self._columns(y, len(X), "y")
        if loss.labels != "real":
            y = np.ascontiguousarray(loss.encode(y, self.loops.outputs, several=False), self.dtype)
        alpha = checks.number(alpha, "alpha", above=0)
        if not 0.0 < self.dtype.type(alpha) < np.inf:
            raise BadInput(f"alpha = {alpha}: must be greater than 0 and finite in {self.dtype}")
        compiled, numbers = loss.tile()
        return self._pulled(compiled, theta, Rows(X, y), Goal(self.dtype.type(alpha), 1, numbers))

    def pull(self, theta: Array, R: Array, X: Array) -> Array:
        """Jᵀ R = Σ_i J_iᵀ R_i : (size,), 0 where θ is not trained."""
        theta, X = self._checked(theta, X)
        rows = Rows(X, self._columns(R, len(X), "R"))
        return self._pulled(tiles.given, theta, rows, Goal(self.dtype.type(1), 0, np.zeros(0)))[1]

    def _pulled(self, loss: Any, theta: Array, rows: Rows, goal: Goal) -> tuple[float, Array]:
        out = np.zeros_like(theta)
        with one_blas_thread():
            total = self.gradient(self.act, loss, self.net(theta), rows, goal, out, self.scratch(len(rows.X)))
        return total, out

    def jacobian(self, theta: Array, X: Array, name: str = "X") -> Array:
        """J : (n c, size), row i c + a being ∂f_a(x_i)/∂θ; 0 where θ is not trained. One `pull` per row.

        name: what the error calls X.
        """
        X, c = checks.matrix(X, name, dim=self.dim, dtype=self.dtype), self.loops.outputs
        rows = [self.pull(theta, np.eye(1, c, k), x[np.newaxis]) for x in X for k in range(c)]
        return np.array(rows).reshape(len(X) * c, self.loops.size)
