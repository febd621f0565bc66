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
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput
from simlab.core.jit import jit
from simlab.networks.bound import Loops, weights
from simlab.networks.limit import Limit
from simlab.networks.mlp import BIASED
from simlab.networks.network import Trainable
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Compiled, Into, loops_over, unscaled

Floats = NDArray[np.float64]
Sizes = NDArray[np.int64]


class Linearised(Trainable):
    """f_θ0(x) + ⟨θ − θ0, ∇f_θ0(x)⟩."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"network": {"kind": "two_layer", "width": 5}},
        {"network": {"kind": "mlp", "width": 5, "depth": 3, "activation": "tanh", "outputs": 2, **BIASED}},
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
        return dataclasses.replace(inner, compiled=_linearised(inner.compiled), size=2 * inner.size)

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K : (n, n), or (n, n') between the rows of X and of Y: that of the network at θ0"""
        theta = weights(theta)
        if len(theta) % 2:
            raise BadInput(f"theta has shape {theta.shape}: must be that of the network's, twice")
        return self.network.tangent_gram(theta[len(theta) // 2 :], X, Y)


@functools.cache
def _linearised(inner: Compiled) -> Compiled:
    """The loops of the linearised network, made of the tile of the network itself.

    shared: θ_lin − θ0, then what the network's own tile shares.
    """
    tile, name = inner.tile, f"linearised_{inner.name}"
    forwards, backwards, pushed, prepare, finish = tile.forwards, tile.backwards, tile.pushed, tile.prepare, tile.finish
    shared_size, sum_count, scale = tile.shared_size, tile.sum_count, tile.scale

    @jit(named=name)
    def start(net: Net) -> Net:
        """The network at θ0."""
        theta = net.theta[net.theta.size // 2 :]
        return Net(theta, net.sizes, net.numbers, net.phi, net.begin, net.end, net.threads, net.calls)

    @jit(named=name)
    def all_shared(sizes: Sizes, size: int) -> int:
        return int(size // 2 + shared_size(sizes, size // 2))

    @jit(named=name)
    def prepare_both(net: Net, shared: Reals) -> Any:
        """(θ_lin − θ0, what the network prepares at θ0)"""
        P = net.theta.size // 2
        moved = shared[:P]
        for k in range(P):
            moved[k] = net.theta[k] - net.theta[P + k]
        return moved, prepare(start(net), shared[P:])

    @jit(named=name)
    def count_sums(known: Any) -> int:
        return int(sum_count(known[1]))

    @jit(named=name)
    def add_value(act: Any, net: Net, known: Any, X: Reals, space: Reals) -> Reals:
        """f_lin : (c, t), a new array"""
        along: Reals = pushed(act, start(net), known[1], known[0], X, space).copy()
        f = pushed(act, start(net), known[1], net.theta[:0], X, space)
        factor = scale(net.numbers)
        for c in range(f.shape[0]):
            for i in range(X.shape[0]):
                along[c, i] = factor * along[c, i] + factor * f[c, i]
        return along

    @jit(named=name)
    def all_forwards(act: Any, net: Net, known: Any, X: Reals, space: Reals) -> Reals:
        value = add_value(act, net, known, X, space)
        F: Reals = forwards(act, start(net), known[1], X, space)
        F[:, :] = value
        return F

    @jit(named=name)
    def all_backwards(net: Net, known: Any, X: Reals, R: Reals, into: Into, add: bool, space: Reals) -> None:
        P, factor = net.theta.size // 2, scale(net.numbers)
        for c in range(R.shape[0]):
            for i in range(X.shape[0]):
                R[c, i] *= factor
        backwards(start(net), known[1], X, R, Into(into.out[:P], into.sums), add, space)

    @jit(named=name)
    def finish_own(net: Net, known: Any, sums: Any, out: Reals) -> None:
        finish(start(net), known[1], sums, out[: net.theta.size // 2])

    @jit(named=name)
    def push_along(act: Any, net: Net, known: Any, v: Reals, X: Reals, space: Reals) -> Reals:
        if v.size == 0:
            return add_value(act, net, known, X, space)
        F: Reals = pushed(act, start(net), known[1], v[: net.theta.size // 2], X, space)
        factor = scale(net.numbers)
        for c in range(F.shape[0]):
            for i in range(X.shape[0]):
                F[c, i] *= factor
        return F

    own = tile._replace(
        forwards=all_forwards, backwards=all_backwards, pushed=push_along, shared_size=all_shared,
        prepare=prepare_both, sum_count=count_sums, finish=finish_own, scale=unscaled, in_place=False,
    )  # fmt: skip
    return loops_over(own, name)
