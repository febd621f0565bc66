"""f(x) = K(x, X) α on new inputs x, computed a block of rows of K at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.checks import BadData
from simlab.kernels import Kernel

Floats = NDArray[np.float64]
BLOCK_FLOATS = 1 << 25
"""Entries of K in memory at a time: 256 MB in float64."""


def kernel_times(
    kernel: Kernel, X: NDArray[Any], X_fit: NDArray[Any], coefficients: Floats, threads: int | None = None
) -> Floats:
    """K(X, X_fit) @ coefficients : (m,) or (m, c). Raises BadData if it overflows.

    X: new inputs, (m, d).
    X_fit: inputs of the fit, (n, d).
    coefficients: α, (n,) or (n, c).
    threads: threads for the Gram matrix; None is the kernel's own choice.
    """
    out = np.empty((X.shape[0], *coefficients.shape[1:]))
    step = max(1, BLOCK_FLOATS // max(1, X_fit.shape[0]))
    with np.errstate(over="ignore", invalid="ignore"):
        for begin in range(0, X.shape[0], step):
            out[begin : begin + step] = kernel.gram(X[begin : begin + step], X_fit, threads=threads) @ coefficients
    return finite(out)


def finite(predictions: Floats) -> Floats:
    """The predictions themselves; raises BadData if one is infinite or NaN."""
    if not np.isfinite(predictions).all():
        raise BadData("predictions overflow: scale the labels or the inputs")
    return predictions
