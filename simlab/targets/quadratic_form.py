"""A quadratic form f(x) = x·Bx, x as it is; B symmetric of given rank r, trace and Frobenius norm F. MATH §7.

B = V diag(e) Vᵀ, V : (d, r) uniform with orthonormal columns, e = tr/r + z, z Gaussian less its mean and scaled so that
Σ e² = F². `centred` subtracts tr B, the mean of f for x ~ N(0, I) and for x uniform on the sphere of radius √d.
On the sphere of radius ρ: power (ρ² tr B/d − tr B·[centred])² in degree 0, 2ρ⁴(F² − tr²/d)/(d(d+2)) in degree 2.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.target import Floats, Function, Target, check_power


class QuadraticForm(Target):
    """f(x) = x·Bx, less tr B if centred."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"rank": 1, "trace": 1.0},
        {"rank": 3, "trace": -1.2, "frobenius": 2.0, "centred": True},
    )
    knows_power: ClassVar[bool] = True

    rank: int | None = Field(None, ge=1, description="rank r of B; d by default")
    trace: float = Field(0.0, description="trace of B, at most √r F in size; ±F for rank 1")
    frobenius: float = Field(1.0, gt=0, description="Frobenius norm F of B")
    centred: bool = Field(False, description="subtract the trace")

    def _rank_and_spread(self, dim: int) -> tuple[int, float]:
        """The rank r, and the root of Σ z² = F² − tr²/r. BadInput where there is no such B in this dimension."""
        rank = self.rank or dim
        if rank > dim:
            raise BadInput(f"rank = {rank}: must be at most the dimension {dim}")
        left = self.frobenius**2 - self.trace**2 / rank
        if left < -1e-12 * self.frobenius**2 or (rank == 1 and left > 1e-12 * self.frobenius**2):
            most = self.frobenius * math.sqrt(rank)
            allowed = f"±{most:g} for rank 1" if rank == 1 else f"between −{most:.6g} and {most:.6g} for rank {rank}"
            raise BadInput(f"trace = {self.trace}: must be {allowed} and Frobenius norm {self.frobenius:g}")
        return rank, math.sqrt(max(left, 0.0))

    def check(self, dim: int) -> None:
        rank, _ = self._rank_and_spread(checks.dimension(dim))
        checks.memory(4 * dim * rank, f"dim = {dim} and rank = {rank}")

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        dim = self.checked(dim, rng)
        rank, spread = self._rank_and_spread(dim)
        Q, R = np.linalg.qr(rng.standard_normal((dim, rank)))
        V = Q * np.sign(np.diag(R))  # the signs of Q are LAPACK's choice; with these V is uniform
        z = rng.standard_normal(rank)
        z -= z.mean()
        if rank > 1:
            z *= spread / np.linalg.norm(z)
        e = self.trace / rank + z
        shift = self.trace if self.centred else 0.0

        def target(X: Floats) -> Floats:
            values: Floats = (checks.matrix(X, dim=dim) @ V) ** 2 @ e - shift
            return values

        return target

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        """As in the contract; exact."""
        dim, max_degree, radius = check_power(dim, max_degree, radius)
        self._rank_and_spread(dim)
        p = np.zeros(max(max_degree, 2) + 1)
        p[0] = (radius**2 * self.trace / dim - self.trace * self.centred) ** 2
        p[2] = 2 * radius**4 * max(self.frobenius**2 - self.trace**2 / dim, 0.0) / (dim * (dim + 2))
        return p[: max_degree + 1]
