"""A trained network made ready: its compiled loops with everything they take, for one input dimension and float type.

``Bound(params, dim, dtype)`` asks the kind for its `Loops` and gives them as methods over arrays; descent loops take
``bound.loops.gradient[bound.dtype]`` and ``bound.activation`` themselves. BLAS runs with one thread inside the loops,
which divide the rows among numba's threads in a number of blocks that depends on n alone: two pools of threads spin
against each other (4.7 → 20 ms), and the bits do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from simlab.activations._tiles import tile
from simlab.core.blas import one_blas_thread
from simlab.core.errors import BadInput
from simlab.core.jit import PerReal
from simlab.core.params import Params, kind_of, module_of

Array = NDArray[Any]


@dataclass(frozen=True)
class Loops:
    """What a trainable kind tells of itself: compiled functions of the signatures of `_signature`, each for both float
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
        self.params, self.dim, self.dtype = params, dim, np.dtype(dtype)
        if self.dtype not in (np.float64, np.float32):
            raise BadInput(f"dtype = {self.dtype}: must be float64 or float32")
        self.loops: Loops = module_of(params).loops(params, dim)
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

    def _checked(self, theta: Array, X: Array, like_theta: Array | None = None) -> tuple[Array, Array]:
        theta, X = np.ascontiguousarray(theta, self.dtype), np.ascontiguousarray(X, self.dtype)
        if X.ndim != 2 or X.shape[1] != self.dim:
            raise BadInput(f"X: shape {X.shape}; must be (n, {self.dim}) for this {kind_of(self.params)}")
        for name, vector in (("theta", theta), ("v", like_theta)):
            if vector is not None and vector.shape != (self.loops.size,):
                raise BadInput(f"{name}: shape {vector.shape}; must be ({self.loops.size},) for inputs in R^{self.dim}")
        return theta, X

    def _columns(self, values: Array, n: int, name: str) -> Array:
        columns = np.ascontiguousarray(values, self.dtype).reshape(len(values), -1)
        if columns.shape != (n, self.loops.outputs):
            raise BadInput(f"{name}: shape {np.shape(values)}; must be ({n}, {self.loops.outputs})")
        return columns

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
        if not np.asarray(alpha, self.dtype) > 0:
            raise BadInput(f"alpha = {alpha}: must be greater than 0 in {self.dtype}")
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
        theta, X = self._checked(theta, X, v)
        v = np.ascontiguousarray(v, self.dtype)
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
    f = Bound(params, np.shape(X)[1]).value(theta, X)
    return f[:, 0] if f.shape[1] == 1 else f
