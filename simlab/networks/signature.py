"""The two compiled functions of a network and their arguments, so that one descent loop serves all networks and losses.

For real = float64 or float32, X : (n, d), f : (n, c) and J_i = ∂f(x_i)/∂θ:

- ``gradient(act, loss, net, rows, goal, out, scratch) -> R``: R = (1/n) Σ_i ℓ(α f(x_i), y_i) in float64, and
  out (size,) ← ∇_θ R. With ``goal.mean = 0`` both are sums over i instead of means; with the loss `given`, whose slope
  is y itself, out is then Σ_i J_iᵀ y_i;
- ``push(act, net, v, X, out, scratch)``: out (n, c) ← J v; where v is empty, out ← f(X).

The arguments:

- act: compiled φ, ``act(Z, H, a)``: H ← φ(Z) and Z ← φ'(Z), both flat (`simlab.activations.tiles`);
- loss: compiled ℓ and ℓ' over a tile of outputs (`simlab.losses.tiles`);
- net, rows, goal: the named tuples below;
- scratch: workspace of at least ``Loops.scratch(n)`` reals, with anything in it;
- out and v, where they have the length of θ: only the trained part is written or read.

Numba caches code that takes a compiled function as an argument of a declared type (`types.FunctionType`); it never
caches code that takes the function as itself. Within a tuple a function would be taken as itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types, void
from numpy.typing import NDArray

from simlab.activations.tiles import signature as activation_signature
from simlab.losses.tiles import signature as loss_signature

Reals = NDArray[Any]


class Net(NamedTuple):
    """A network with its weights.

    theta: all weights, flat.
    sizes: integers that the loops need, in an order that the network's tile file documents.
    numbers: floats that they need, likewise.
    phi: the numbers of φ.
    begin, end: first trained entry of θ, and one past the last.
    threads: number of threads. The caller asks numba for it: code that asks itself cannot be cached.
    calls: addresses of functions that the network's tile calls (`simlab.core.outlined`).
    """

    theta: Reals
    sizes: NDArray[np.int64]
    numbers: Reals
    phi: NDArray[np.float64]
    begin: int
    end: int
    threads: int
    calls: NDArray[np.int64] = np.zeros(0, np.int64)


class Rows(NamedTuple):
    """Samples.

    X: inputs, (n, d).
    Y: labels, (n, c).
    """

    X: Reals
    Y: Reals


class Goal(NamedTuple):
    """What is minimised, beside the loss itself.

    alpha: output scale α.
    mean: 1 for the mean over the samples, 0 for the sum.
    numbers: the numbers of the loss.
    rate: where it is not 0, out ← out − rate · ∇R, and out may be θ; for a `Tile` that is `in_place`.
    limit: R above which, or where it is not finite, this out stays as it is.
    """

    alpha: Any
    mean: int
    numbers: NDArray[np.float64]
    rate: float = 0.0
    limit: float = np.inf


def tuple_type(kinds: tuple[Any, ...], cls: type) -> Any:
    """The type of the named tuple `cls` with members of these types; numba has another where all are of one type."""
    same = all(kind == kinds[0] for kind in kinds)
    return types.NamedUniTuple(kinds[0], len(kinds), cls) if same else types.NamedTuple(kinds, cls)


def _types(real: types.Float) -> tuple[Any, ...]:
    """The types of act, loss, net, rows and goal."""
    net = tuple_type((real[::1], int64[::1], real[::1], float64[::1], int64, int64, int64, int64[::1]), Net)
    rows, goal = tuple_type((real[:, ::1],) * 2, Rows), tuple_type((real, int64, float64[::1], float64, float64), Goal)
    functions = types.FunctionType(activation_signature(real)), types.FunctionType(loss_signature(real))
    return *functions, net, rows, goal


def GRADIENT(real: types.Float) -> Any:
    return float64(*_types(real), real[::1], real[::1])


def PUSH(real: types.Float) -> Any:
    act, _, net, _, _ = _types(real)
    return void(act, net, real[::1], real[:, ::1], real[:, ::1], real[::1])
