"""A loss over a tile of outputs: the only thing that the compiled loops of networks know of a loss. MATH §10.

``loss(F, Y, factor, weight, a)`` returns Σ_i ℓ(factor·F_i, Y_i), in float64, and then writes weight·ℓ'(factor·F_i, Y_i)
over F_i, where ℓ' = ∂ℓ/∂f. Its arguments:

- F : (c, t'), outputs of the network, one column per sample. t' ≥ t: columns from t on are padding, neither read nor
  written;
- Y : (t, c), labels, one row per sample, as `Loss.encode` gives them;
- factor: what the outputs are multiplied with before the loss, such as α;
- weight: what slopes are multiplied with, such as α/n;
- a : numbers of the loss (`Loss.numbers`).

Networks take it as an argument of declared type, one call per tile, and are compiled once for all losses.
"""

from __future__ import annotations

from typing import Any

from numba import float64, types


def signature(real: types.Float) -> Any:
    """The signature of `loss` for float64 or float32."""
    return float64(real[:, ::1], real[:, ::1], real, real, float64[::1])
