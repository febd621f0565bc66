"""exp(−c r^{2γ}), r² = ‖x−y‖²/2, which is 1 − u on the unit sphere. MATH §4.

From norms and angle r² = (‖x‖−‖y‖)²/2 + ‖x‖‖y‖ t: positive terms, nothing cancels for near inputs.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.core.jit import jit
from simlab.kernels.kernel import Floats, Integers, Leaf, Pairs
from simlab.kernels.spectra import endpoints
from simlab.kernels.spectra.result import Eigenvalues

MAX_C = 2000.0


@jit
def _values(
    c: float, gamma: float, x: Floats, y: Floats, rows: Integers, columns: Integers, t: Floats, out: NDArray[np.float64]
) -> None:
    for i in range(t.size):
        a, b = x[rows[i]], y[columns[i]]
        square = 0.5 * (a - b) ** 2 + (a * t[i]) * b  # in this order: 0, not inf·0, for equal huge inputs
        if gamma == 0.5:
            out[i] = math.exp(-c * math.sqrt(square))
        elif gamma == 1.0:
            out[i] = math.exp(-c * square)
        else:
            out[i] = math.exp(-c * square**gamma)


class Radial(Leaf):
    """A kernel exp(−c r^{2γ}); `power` is γ."""

    c: float = Field(gt=0, description="inverse length: exp(-c r^(2γ)) with r² = |x-y|²/2")

    @abstractmethod
    def power(self) -> float:
        """γ"""

    @staticmethod
    def evaluate(leaves: Sequence[Any], pairs: Pairs) -> Floats:
        out = np.empty((len(leaves), pairs.t.size))
        for leaf, row in zip(leaves, out, strict=True):
            _values(leaf.c, leaf.power(), pairs.x, pairs.y, pairs.rows, pairs.columns, pairs.t, row)
        return out

    def profile_arb(self, us: list[arb]) -> list[arb]:
        return [(-arb(self.c) * (1 - u) ** arb(self.power())).exp() for u in us]

    def at_one_arb(self) -> arb:
        return arb(1)

    def polynomial_degree(self) -> int | None:
        return None

    def grading(self) -> int | None:
        """(1−u)^γ = (√2 sin(θ/2))^{2γ} is analytic in x where 2γm is an integer."""
        return next((m for m in range(1, 17) if (2 * self.power() * m).is_integer()), None)

    def known_endpoints(self) -> endpoints.Endpoints | None:
        return endpoints.power_exponential(self.c, self.power())

    def series_eigenvalues(self, dim: int, max_degree: int, rtol: float) -> Eigenvalues:
        from simlab.kernels.spectra.series import power_exponential_eigenvalues

        if self.c > MAX_C:
            raise BadInput(f"c = {self.c:g}: at most {MAX_C:g} for a spectrum on the sphere; its series cancels e^2c")
        return power_exponential_eigenvalues(self.c, self.power(), dim, max_degree, rtol)
