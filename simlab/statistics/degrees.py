"""The power of a residual by degree along a flow: which degrees it has, and how fast they are predicted to fall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.record.reader import Results

Floats = NDArray[np.float64]
PRESENT_SHARE, CLEAR_ERRORS = 0.01, 4.0
"""Share of the power, and standard errors: what is below is not part of the target."""


def degrees_present(power: Floats, error: Floats) -> list[int]:
    """The degrees that a residual has at the start, from powers (…, record, degree) and their standard errors."""
    first, errors = (values[..., 0, :].reshape(-1, values.shape[-1]) for values in (power, error))
    start, noise = first.mean(axis=0), np.sqrt(np.sum(errors**2, axis=0)) / len(errors)
    return [int(k) for k in np.flatnonzero((start > PRESENT_SHARE * start.sum()) & (start > CLEAR_ERRORS * noise))]


def predicted_slope(results: Results, at: Mapping[str, Any], degree: int) -> float | None:
    """The slope of log power against the step, or the time of a flow without steps; None where it is not known.

    (1 − ημ_k)^{2t} of a descent of constant step η, e^{−2μ_k t} of a flow in time, μ_k the recorded eigenvalues of the
    tangent kernel of infinite width.
    """
    if "limit_eigenvalue" not in results:
        return None
    mu = float(results.select("limit_eigenvalue", at)[degree])
    if "step_size" not in results:
        return -2.0 * mu
    with np.errstate(divide="ignore"):
        return float(2.0 * np.log(abs(1.0 - float(results.select("step_size", at)) * mu)))
