"""The signatures of a trained network's compiled loops, so that one descent loop serves all networks.

For real = float64 or float32, with θ the flat vector of all weights, X : (n, d), f : (n, c) and J_i = ∂f(x_i)/∂θ:

- ``value(act, a, theta, X, sizes, numbers, out, scratch)``: out (n, c) ← f(X);
- ``gradient(act, a, theta, X, y, alpha, sizes, numbers, out, scratch) -> R``: R(αf) = (1/2n) Σ_i ‖α f(x_i) − y_i‖²
  in float64, and out ← ∇_θ R(αf);
- ``push(act, a, theta, v, X, sizes, numbers, out, scratch)``: out (n, c) ← J v;
- ``pull(act, a, theta, R, X, sizes, numbers, out, scratch)``: out ← Σ_i J_iᵀ R_i.

(act, a) is the activation's `simlab.activations.tiles.tile`; `sizes` and `numbers` hold what the loops need of the
network's parameters; `scratch` is space to work in. Of `out` and `v`, where they have θ's size, only the trained part
is written or read. A compiled function passed as an argument of these declared types is cached; as itself it never is.
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
