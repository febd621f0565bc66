"""A loss over a tile of outputs: the only thing that the compiled loops of networks know of a loss. MATH §10.

``loss(F, Y, factor, weight, a)`` returns Σ_i ℓ(factor·F_i, Y_i), in float64, and then writes weight·ℓ'(factor·F_i, Y_i)
over F_i, where ℓ' = ∂ℓ/∂f. Its arguments:

- F : (c, t'), outputs of the network, one column per sample. t' ≥ t: columns from t on are padding, neither read nor
  written;
- Y : (t, c), labels, one row per sample, as `Loss.encode` gives them;
- factor: what the outputs are multiplied with before the loss, such as α;
- weight: what slopes are multiplied with, such as α/n, in float64;
- a : numbers of the loss (`Loss.numbers`).

Networks take it as an argument of declared type, one call per tile, and are compiled once for all losses. ℓ and ℓ'
are computed in the float type of F.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import float32, float64, types
from numpy.typing import NDArray

from simlab.core.jit import jit

Array = NDArray[Any]
Floats = NDArray[np.float64]
Scalar = Callable[[Any, Any, Floats], Any]
"""A compiled function (f, y, a) of one output and its label, which computes in the float type of f."""


def signature(real: types.Float) -> Any:
    """The signature of `loss` for float64 or float32."""
    return float64(real[:, ::1], real[:, ::1], real, float64, float64[::1])


SIGNATURES = [signature(float64), signature(float32)]


@functools.lru_cache(maxsize=256)
def separable(value: Scalar, slope: Scalar, named: str) -> Callable[..., float]:
    """`loss` for ℓ(f, y) = Σ_c value(f_c, y_c), from the compiled value and slope of one output.

    named: as in `simlab.core.jit.jit`: the kind's name.
    """

    @jit(signatures=SIGNATURES, named=named)
    def loss(F: Array, Y: Array, factor: float, weight: float, a: Floats) -> float:
        total = 0.0
        for c in range(Y.shape[1]):
            for i in range(Y.shape[0]):
                f, y = factor * F[c, i], Y[i, c]
                total += np.float64(value(f, y, a))
                F[c, i] = weight * slope(f, y, a)
        return total

    return loss


@jit(signatures=SIGNATURES)
def given(F: Array, Y: Array, factor: float, weight: float, a: Floats) -> float:
    """No loss: F ← weight·Y, so that the backward pass of a network gives weight·Jᵀ Y for any Y : (t, c). Returns 0."""
    for c in range(Y.shape[1]):
        for i in range(Y.shape[0]):
            F[c, i] = weight * Y[i, c]
    return 0.0
