"""A network linearised at its start: f_lin(x) = f_θ0(x) + ⟨θ_lin − θ0, ∇f_θ0(x)⟩. MATH §6.

θ = (θ_lin, θ0) : (2P,): first the weights that move, then the frozen ones where the tangent is taken. Both start as the
θ0 that the network itself draws from the same generator. The loss gradient is Σ_i J_iᵀ α(α f_lin(x_i) − y_i)/n with
the Jacobian J at θ0, by the network's own J v and Jᵀ R: exact, and nothing of size n × P is formed. Weights that the
network does not train do not move here either. The tangent kernel is the network's at θ0, whatever θ_lin.

A linearised network is its own linearisation, so that linearising it again is refused.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar

import numpy as np
from numba import float64, from_dtype
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput
from simlab.core.jit import PerReal, jit
from simlab.networks.bound import Loops, weights
from simlab.networks.limit import Limit
from simlab.networks.network import Trainable
from simlab.networks.signature import GRADIENT, PULL, PUSH, VALUE

Floats = NDArray[np.float64]
Reals = NDArray[Any]
Sizes = NDArray[np.int64]


class Linearised(Trainable):
    """f_θ0(x) + ⟨θ − θ0, ∇f_θ0(x)⟩."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"network": {"kind": "two_layer", "width": 5}},
        {
            "network": {
                "kind": "mlp",
                "width": 5,
                "depth": 3,
                "activation": "tanh",
                "weight_std": 1.5,
                "bias_std": 0.5,
                "outputs": 2,
            }
        },
    )

    network: Trainable = Field(description="the network, any that is trained")

    @model_validator(mode="after")
    def _can_be_linearised(self) -> Linearised:
        if isinstance(self.network, Linearised):
            raise ValueError("network.kind = 'linearised': it is linear already; give the network within it")
        return self

    def output_count(self) -> int:
        return self.network.output_count()

    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (2P,), P the length of the network's own θ"""
        return self.around(self.network.initialise(dim, rng))

    def around(self, theta0: Floats) -> Floats:
        """θ = (θ0, θ0) : (2P,), for the linearisation at θ0 : (P,), at its start."""
        return np.concatenate([weights(theta0, "theta0")] * 2)

    def own_weights(self, theta: Floats) -> Floats:
        return theta[: theta.size // 2]

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        return self.network.limit_kernel(dim, radius)

    def loops(self, dim: int) -> Loops:
        inner = self.network.loops(dim)
        name = f"{self.network.kind}_{inner.variant}" if inner.variant else self.network.kind
        value, gradient, push, pull = _compiled(name, inner.value, inner.push, inner.pull)
        return dataclasses.replace(
            inner,
            value=value,
            gradient=gradient,
            push=push,
            pull=pull,
            size=2 * inner.size,
            scratch=lambda n: inner.size + 2 * n * inner.outputs + inner.scratch(n),
            variant="",
        )

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K : (n, n), or (n, n') between the rows of X and of Y: that of the network at θ0"""
        theta = weights(theta)
        if len(theta) % 2:
            raise BadInput(f"theta has shape {theta.shape}: must be that of the network's, twice")
        return self.network.tangent_gram(theta[len(theta) // 2 :], X, Y)


@functools.cache
def _compiled(name: str, value: PerReal, push: PerReal, pull: PerReal) -> tuple[PerReal, PerReal, PerReal, PerReal]:
    """(value, gradient, push, pull) of the linearised network, from the network's own functions.

    name: name for numba's cache; the network's kind and variant.
    """
    own = PerReal(lambda real: _value(name, from_dtype(real), value[real], push[real]))
    return (
        own,
        PerReal(lambda real: _gradient(name, from_dtype(real), own[real], pull[real])),
        PerReal(lambda real: _push(name, from_dtype(real), push[real])),
        PerReal(lambda real: _pull(name, from_dtype(real), pull[real])),
    )


def _value(name: str, real: Any, value: Any, push: Any) -> Any:
    @jit(signatures=[VALUE(real)], named=name)
    def own(
        act: Any, a: Reals, theta: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        P, n, outputs = theta.size // 2, out.shape[0], out.shape[1]
        start, moved, rest = theta[P:], scratch[:P], scratch[P + n * outputs :]
        for k in range(P):
            moved[k] = theta[k] - start[k]
        push(act, a, start, moved, X, sizes, numbers, out, rest)
        f = scratch[P : P + n * outputs].reshape(n, outputs)
        value(act, a, start, X, sizes, numbers, f, rest)
        for i in range(n):
            for c in range(outputs):
                out[i, c] += f[i, c]

    return own


def _gradient(name: str, real: Any, value: Any, pull: Any) -> Any:
    @jit(signatures=[GRADIENT(real)], named=name)
    def own(
        act: Any,
        a: Reals,
        theta: Reals,
        X: Reals,
        y: Reals,
        alpha: float,
        sizes: Sizes,
        numbers: Reals,
        out: Reals,
        scratch: Reals,
    ) -> float:
        (n, outputs), P = y.shape, theta.size // 2
        R, rest = scratch[: n * outputs].reshape(n, outputs), scratch[n * outputs :]
        value(act, a, theta, X, sizes, numbers, R, rest)
        loss = 0.0
        for i in range(n):
            for c in range(outputs):
                residual = alpha * R[i, c] - y[i, c]
                loss += float64(residual) * residual
                R[i, c] = residual * (alpha / n)
        pull(act, a, theta[P:], R, X, sizes, numbers, out[:P], rest)
        return float(loss / (2 * n))

    return own


def _push(name: str, real: Any, push: Any) -> Any:
    @jit(signatures=[PUSH(real)], named=name)
    def own(
        act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        P = theta.size // 2
        push(act, a, theta[P:], v[:P], X, sizes, numbers, out, scratch)

    return own


def _pull(name: str, real: Any, pull: Any) -> Any:
    @jit(signatures=[PULL(real)], named=name)
    def own(
        act: Any, a: Reals, theta: Reals, R: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        P = theta.size // 2
        pull(act, a, theta[P:], R, X, sizes, numbers, out[:P], scratch)

    return own
