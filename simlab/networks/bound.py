"""A trained network made ready: its compiled loops with everything they take, for one input dimension and float type.

``Bound(params, dim, dtype)`` asks the kind for its `Loops` and gives them as methods over arrays; descent loops take
``bound.loops.gradient[bound.dtype]`` and ``bound.activation`` themselves. BLAS runs with one thread inside the loops,
which divide the rows among numba's threads in a number of blocks that depends on n alone: two pools of threads spin
against each other (4.7 → 20 ms), and the bits do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from simlab.activations.tiles import tile
from simlab.core import checks
from simlab.core.blas import one_blas_thread
from simlab.core.errors import BadInput
from simlab.core.jit import PerReal
from simlab.core.params import Params, module_of

Array = NDArray[Any]
_finite: ContextVar[bool] = ContextVar("finite", default=True)


@contextmanager
def diverged_weights() -> Iterator[None]:
    """Within it weights may hold NaN and infinity: for the record that shows a divergence."""
    before = _finite.set(False)
    try:
        yield
    finally:
        _finite.reset(before)


def vector(theta: Any, name: str, size: int, dim: int, dtype: DTypeLike | None = None) -> Array:
    """θ, or a vector like it, of so many numbers; of its own float type unless told."""
    found = checks.array(theta, name, dtype=dtype, finite=_finite.get())
    if found.shape != (size,):
        raise BadInput(f"{name} has shape {found.shape}: must be ({size},) for inputs in R^{dim}")
    return found


def weights(theta: Any, name: str = "theta", ndim: int | None = 1) -> Array:
    """Weights of a shape that the network itself looks at."""
    return checks.array(theta, name, ndim=ndim, dtype=None, finite=_finite.get())


def inputs(X: Any, name: str = "X", dim: int | None = None) -> NDArray[np.float64]:
    """X as a matrix of float64, of this dimension where it is given."""
    return checks.matrix(X, name, dim=dim)


def other_inputs(Y: Any, dim: int) -> NDArray[np.float64] | None:
    """Y of a kernel's K(X, Y), or None."""
    return None if Y is None else inputs(Y, "Y", dim)


def checked_start(dim: Any, rng: Any, size: Callable[[int], int]) -> int:
    """dim, refused where it is none, `rng` no generator, or no room for the size(dim) weights to draw."""
    found = checks.dimension(dim)
    checks.generator(rng)
    checks.room(2 * size(found), f"dim = {found}: the network's weights")
    return found


@dataclass(frozen=True)
class Loops:
    """What a trainable kind tells of itself: compiled functions of the signatures of `signature`, each for both float
    types, and their arguments.

    `size` is that of θ, `trained` the part of it that is trained, `scratch(n)` the numbers of scratch space for n rows.
    """

    value: PerReal
    gradient: PerReal
    push: PerReal
    pull: PerReal
    activation: Params
    sizes: NDArray[np.int64]
    numbers: NDArray[np.float64]
    size: int
    trained: range
    scratch: Callable[[int], int]
    outputs: int = 1


class Bound:
    """A network for inputs in R^dim, with numbers of type `dtype`."""

    def __init__(self, params: Params, dim: int, dtype: DTypeLike = np.float64) -> None:
        self.params, self.dim, self.dtype = params, checks.dimension(dim), checks.float_type(dtype)
        self.loops: Loops = module_of(params).loops(params, self.dim)
        self.activation = tile(self.loops.activation)
        self.sizes = self.loops.sizes
        self.numbers = np.ascontiguousarray(self.loops.numbers, dtype=self.dtype)
        self.trained = self.loops.trained
        self._scratch = np.empty(0, self.dtype)

    def scratch(self, n: int) -> Array:
        """Space for n rows, kept from call to call."""
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
        out = np.empty((len(X), self.loops.outputs), self.dtype)
        with one_blas_thread():
            self.loops.value[self.dtype](
                *self.activation, theta, X, self.sizes, self.numbers, out, self.scratch(len(X))
            )
        return out

    def gradient(self, theta: Array, X: Array, y: Array, alpha: float = 1.0) -> tuple[float, Array]:
        """R(αf) and ∇_θ R(αf), zero where θ is not trained."""
        theta, X = self._checked(theta, X)
        y, out = self._columns(y, len(X), "y"), np.zeros_like(theta)
        alpha = checks.number(alpha, "alpha", above=0)
        if not 0.0 < self.dtype.type(alpha) < np.inf:
            raise BadInput(f"alpha = {alpha}: must be greater than 0 and finite in {self.dtype}")
        with one_blas_thread():
            loss = self.loops.gradient[self.dtype](
                *self.activation,
                theta,
                X,
                y,
                alpha,
                self.sizes,
                self.numbers,
                out,
                self.scratch(len(X)),
            )
        return loss, out

    def push(self, theta: Array, v: Array, X: Array) -> Array:
        """J v : (n, c)"""
        theta, X = self._checked(theta, X)
        v = self._vector(v, "v")
        out = np.empty((len(X), self.loops.outputs), self.dtype)
        with one_blas_thread():
            self.loops.push[self.dtype](
                *self.activation, theta, v, X, self.sizes, self.numbers, out, self.scratch(len(X))
            )
        return out

    def pull(self, theta: Array, R: Array, X: Array) -> Array:
        """Σ_i J_iᵀ R_i, zero where θ is not trained."""
        theta, X = self._checked(theta, X)
        R, out = self._columns(R, len(X), "R"), np.zeros_like(theta)
        with one_blas_thread():
            self.loops.pull[self.dtype](
                *self.activation, theta, R, X, self.sizes, self.numbers, out, self.scratch(len(X))
            )
        return out


def forward(params: Params, theta: Array, X: Array) -> Array:
    """f in float64: (n,), or (n, c) where there are several outputs. What a trainable kind calls its `forward`."""
    X = inputs(X)
    f = Bound(params, X.shape[1]).value(theta, X)
    return f[:, 0] if f.shape[1] == 1 else f
