"""A network linearised where it was drawn: f_lin(x) = f_θ0(x) + ⟨θ − θ0, ∇f_θ0(x)⟩. MATH §6.

θ = (θ_lin, θ0): the point that moves and, frozen, the one where the tangent is taken; both are at first the θ0 that the
network itself draws from the same generator. Loss gradient Σ_i J_iᵀ α(α f_lin(x_i) − y_i)/n with the Jacobian J at θ0,
by the network's own products J v and Jᵀ R: exact, and nothing of size n × P is formed. What the network does not train
stays as it is here too. The tangent kernel is the network's at θ0, whatever θ_lin.

A linearised network is its own linearisation, so that one of another is refused.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np
from numba import float64, from_dtype
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import lookup
from simlab.core.errors import BadInput, one_of
from simlab.core.jit import PerReal, jit
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of
from simlab.networks.bound import Loops, forward, weights  # noqa: F401 (forward: the rest of the contract)
from simlab.networks.signature import GRADIENT, PULL, PUSH, VALUE

Floats = NDArray[np.float64]
Reals = NDArray[Any]
Sizes = NDArray[np.int64]


class Params(Base):
    network: Annotated[Base, Room("networks")] = Field(description="the network, any that is trained")

    @model_validator(mode="after")
    def _can_be_linearised(self) -> Params:
        if kind_of(self.network) == "linearised":
            raise ValueError("network.kind = 'linearised': it is linear already; give the network within it")
        if not hasattr(module_of(self.network), "loops"):
            able = [kind for kind in lookup.kinds("networks") if hasattr(lookup.get("networks", kind), "loops")]
            able.remove("linearised")
            raise ValueError(
                f"network.kind = {kind_of(self.network)!r}: it has no gradient to be linearised by "
                f"(allowed: {one_of(able)})"
            )
        return self

    @property
    def outputs(self) -> int:
        return getattr(self.network, "outputs", 1)


EXAMPLES = (
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


def initialise(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    """θ : (2 P,)"""
    return around(params.network, module_of(params.network).initialise(params.network, dim, rng))


def around(network: Base, theta0: Floats) -> Floats:
    """θ of `network` linearised at θ0, where it stands at θ0: to be run beside the network itself."""
    return np.concatenate([weights(theta0, "theta0")] * 2)


def loops(params: Params, dim: int) -> Loops:
    inner: Loops = module_of(params.network).loops(params.network, dim)
    value, gradient, push, pull = _compiled(kind_of(params.network), inner.value, inner.push, inner.pull)
    return Loops(
        value=value,
        gradient=gradient,
        push=push,
        pull=pull,
        activation=inner.activation,
        sizes=inner.sizes,
        numbers=inner.numbers,
        outputs=inner.outputs,
        trained=inner.trained,
        size=2 * inner.size,
        scratch=lambda n: inner.size + 2 * n * inner.outputs + inner.scratch(n),
    )


def tangent_gram(params: Params, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
    """K : (n, n), or (n, n') between the rows of X and of Y: that of the network at θ0"""
    theta = weights(theta)
    if len(theta) % 2:
        raise BadInput(f"theta has shape {theta.shape}: must be that of the network's, twice")
    K: Floats = module_of(params.network).tangent_gram(params.network, theta[len(theta) // 2 :], X, Y)
    return K


@functools.cache
def _compiled(kind: str, value: PerReal, push: PerReal, pull: PerReal) -> tuple[PerReal, PerReal, PerReal, PerReal]:
    """(value, gradient, push, pull) over the network's own."""
    own = PerReal(lambda real: _value(kind, from_dtype(real), value[real], push[real]))
    return (
        own,
        PerReal(lambda real: _gradient(kind, from_dtype(real), own[real], pull[real])),
        PerReal(lambda real: _push(kind, from_dtype(real), push[real])),
        PerReal(lambda real: _pull(kind, from_dtype(real), pull[real])),
    )


def _value(kind: str, real: Any, value: Any, push: Any) -> Any:
    @jit(signatures=[VALUE(real)], named=kind)
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


def _gradient(kind: str, real: Any, value: Any, pull: Any) -> Any:
    @jit(signatures=[GRADIENT(real)], named=kind)
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


def _push(kind: str, real: Any, push: Any) -> Any:
    @jit(signatures=[PUSH(real)], named=kind)
    def own(
        act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        P = theta.size // 2
        push(act, a, theta[P:], v[:P], X, sizes, numbers, out, scratch)

    return own


def _pull(kind: str, real: Any, pull: Any) -> Any:
    @jit(signatures=[PULL(real)], named=kind)
    def own(
        act: Any, a: Reals, theta: Reals, R: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        P = theta.size // 2
        pull(act, a, theta[P:], R, X, sizes, numbers, out[:P], scratch)

    return own
