"""A network of a single neuron, f(x) = φ(⟨θ, x⟩), θ ~ N(0, I_d/d) at the start."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations import Activation
from simlab.activations.relu import ReLU
from simlab.core import checks
from simlab.core.jit import jit
from simlab.networks import Trainable
from simlab.networks.bound import Loops, checked_start, weights
from simlab.networks.signature import Net
from simlab.networks.skeleton import Into, Tile, loops_over

Array = NDArray[Any]
TILE_ROWS = 64


@jit
def tile_rows(sizes: Array, n: int) -> int:
    return min(n, TILE_ROWS)


@jit
def space_size(sizes: Array, t: int) -> int:
    """space: φ(Xθ) or what `pushed` gives (t,) | φ'(Xθ) (t,)"""
    return 2 * t


@jit
def forwards(act: Any, net: Net, known: int, X: Array, space: Array) -> Array:
    t = X.shape[0]
    h, z = space[:t], space[t : 2 * t]
    z[:] = np.dot(X, net.theta)
    act(z, h, net.phi)  # z becomes φ'
    return h.reshape(1, t)


@jit
def backwards(net: Net, known: int, X: Array, R: Array, into: Into, add: bool, space: Array) -> None:
    t = X.shape[0]
    slopes = space[t : 2 * t]
    for i in range(t):
        slopes[i] *= R[0, i]
    if not add:
        into.out[:] = 0
    into.out[:] += np.dot(X.T, slopes)


@jit
def pushed(act: Any, net: Net, known: int, v: Array, X: Array, space: Array) -> Array:
    t = X.shape[0]
    F = forwards(act, net, known, X, space)
    if v.size > 0:
        F[0] = space[t : 2 * t] * np.dot(X, v)
    return F


LOOPS = loops_over(Tile(forwards, backwards, pushed, tile_rows, space_size), "single_neuron")


class SingleNeuron(Trainable):
    """φ(⟨θ, x⟩)"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"activation": "tanh"})

    activation: Activation = Field(default_factory=ReLU, description="φ")

    def initialise(self, dim: int, rng: np.random.Generator) -> Array:
        dim = checked_start(dim, rng, lambda d: d)
        return rng.standard_normal(dim) / dim**0.5

    def loops(self, dim: int) -> Loops:
        return Loops(
            compiled=LOOPS,
            activation=self.activation,
            sizes=np.zeros(0, np.int64),
            numbers=np.zeros(0),
            size=dim,
            trained=range(dim),
        )

    def tangent_gram(self, theta: Array, X: Array, Y: Array | None = None) -> Array:
        theta = weights(theta)

        def jacobian(rows: Array) -> Array:
            rows = checks.matrix(rows, dim=theta.size)
            return self.activation.derivative(rows @ theta)[:, np.newaxis] * rows

        J = jacobian(X)
        return J @ (J if Y is None else jacobian(Y)).T
