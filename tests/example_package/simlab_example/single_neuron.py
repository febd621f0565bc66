"""A network of a single neuron, f(x) = φ(⟨θ, x⟩), θ ~ N(0, I_d/d) at the start."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations import Activation
from simlab.activations.relu import ReLU
from simlab.core import checks
from simlab.core.jit import per_real
from simlab.networks import Trainable
from simlab.networks.bound import Loops, checked_start, weights
from simlab.networks.signature import GRADIENT, PULL, PUSH, VALUE

Array = NDArray[Any]


@per_real(VALUE)
def value(act: Any, a: Array, theta: Array, X: Array, sizes: Array, numbers: Array, out: Array, scratch: Array) -> None:
    n = len(X)
    z, h = scratch[:n], scratch[n : 2 * n]
    z[:] = X @ theta
    act(z, h, a)
    out[:, 0] = h


@per_real(GRADIENT)
def gradient(
    act: Any, a: Array, theta: Array, X: Array, y: Array, alpha: Any, sizes: Array, numbers: Array, out: Array,
    scratch: Array,
) -> float:  # fmt: skip
    n, loss = len(X), 0.0
    z, h = scratch[:n], scratch[n : 2 * n]
    z[:] = X @ theta
    act(z, h, a)  # z becomes φ'
    for i in range(n):
        r = alpha * h[i] - y[i, 0]
        loss += float(r) * float(r)
        z[i] *= alpha * r / n
    out[:] = X.T @ z
    return loss / (2 * n)


@per_real(PUSH)
def push(
    act: Any, a: Array, theta: Array, v: Array, X: Array, sizes: Array, numbers: Array, out: Array, scratch: Array
) -> None:
    n = len(X)
    z, h = scratch[:n], scratch[n : 2 * n]
    z[:] = X @ theta
    act(z, h, a)
    out[:, 0] = z * (X @ v)


@per_real(PULL)
def pull(
    act: Any, a: Array, theta: Array, R: Array, X: Array, sizes: Array, numbers: Array, out: Array, scratch: Array
) -> None:
    n = len(X)
    z, h = scratch[:n], scratch[n : 2 * n]
    z[:] = X @ theta
    act(z, h, a)
    for i in range(n):
        z[i] *= R[i, 0]
    out[:] = X.T @ z


class SingleNeuron(Trainable):
    """φ(⟨θ, x⟩)"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"activation": "tanh"})

    activation: Activation = Field(default_factory=ReLU, description="φ")

    def initialise(self, dim: int, rng: np.random.Generator) -> Array:
        dim = checked_start(dim, rng, lambda d: d)
        return rng.standard_normal(dim) / dim**0.5

    def loops(self, dim: int) -> Loops:
        return Loops(
            value=value,
            gradient=gradient,
            push=push,
            pull=pull,
            activation=self.activation,
            sizes=np.zeros(0, np.int64),
            numbers=np.zeros(0),
            size=dim,
            trained=range(dim),
            scratch=lambda n: 2 * n,
        )

    def tangent_gram(self, theta: Array, X: Array, Y: Array | None = None) -> Array:
        theta = weights(theta)

        def jacobian(rows: Array) -> Array:
            rows = checks.matrix(rows, dim=theta.size)
            return self.activation.derivative(rows @ theta)[:, np.newaxis] * rows

        J = jacobian(X)
        return J @ (J if Y is None else jacobian(Y)).T
