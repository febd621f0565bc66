"""Eigenvalues in many digits, with what is known of their error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Eigenvalues:
    """μ_0 … μ_K of a zonal kernel.

    values: in high precision; exact zeros are exactly 0.
    errors: bound of |error/μ_k| per degree, before the rounding to float64; 0 for an exact zero, inf where nothing of
        the value can be trusted.
    digits: decimal digits that the computation carried.
    nodes: number of nodes of its quadrature, or of terms of its sum.
    method: "arb", "series" or "float64".
    """

    values: list[arb]
    errors: Floats
    digits: int
    nodes: int
    method: str

    def float64(self) -> Floats:
        """Rounded to float64; what lies below its range underflows, gradually and then to 0."""
        return np.array([float(value.mid()) for value in self.values])

    def log10(self) -> Floats:
        """log10 |μ_k|, −inf for exact zeros; right where float64 underflows."""
        with ctx.workprec(128):
            ten = arb(10).log()
            return np.array([float(abs(v.mid()).log() / ten) if v != 0 else -np.inf for v in self.values])
