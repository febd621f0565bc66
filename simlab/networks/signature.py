"""The signatures of a trained network's compiled loops, so that one descent loop serves all networks.

For real = float64 or float32, X : (n, d), f : (n, c) and J_i = ∂f(x_i)/∂θ:

- ``value(act, a, theta, X, sizes, numbers, out, scratch)``: out (n, c) ← f(X);
- ``gradient(act, a, theta, X, y, alpha, sizes, numbers, out, scratch) -> R``: R(αf) = (1/2n) Σ_i ‖α f(x_i) − y_i‖²
  in float64, and out (size,) ← ∇_θ R(αf);
- ``push(act, a, theta, v, X, sizes, numbers, out, scratch)``: out (n, c) ← J v;
- ``pull(act, a, theta, R, X, sizes, numbers, out, scratch)``: out (size,) ← Σ_i J_iᵀ R_i.

The arguments:

- act: compiled φ, ``act(Z, H, a)``: H ← φ(Z) and Z ← φ'(Z), both flat (`simlab.activations.tiles.tile`);
- a: the numbers of φ;
- theta: all weights, flat;
- sizes, numbers: integers and floats of the network, in an order that its loops file documents;
- scratch: workspace of at least ``Loops.scratch(n)`` floats, with anything in it;
- out and v, where they have the length of θ: only the trained part is written or read.

Numba caches code that takes a compiled function as an argument of a declared type (`types.FunctionType`); it never
caches code that takes the function as itself.
"""

from __future__ import annotations

from typing import Any

from numba import float64, int64, types, void

from simlab.activations.tiles import signature as tile_signature


def _activation(real: types.Float) -> tuple[Any, Any]:
    return types.FunctionType(tile_signature(real)), float64[::1]


def VALUE(real: types.Float) -> Any:
    return void(*_activation(real), real[::1], real[:, ::1], int64[::1], real[::1], real[:, ::1], real[::1])


def GRADIENT(real: types.Float) -> Any:
    return float64(
        *_activation(real), real[::1], real[:, ::1], real[:, ::1], real, int64[::1], real[::1], real[::1], real[::1]
    )


def PUSH(real: types.Float) -> Any:
    return void(*_activation(real), real[::1], real[::1], real[:, ::1], int64[::1], real[::1], real[:, ::1], real[::1])


def PULL(real: types.Float) -> Any:
    return void(*_activation(real), real[::1], real[:, ::1], real[:, ::1], int64[::1], real[::1], real[::1], real[::1])
