"""A quadratic form f(x) = x·Bx, x as it is; B symmetric of given rank r, trace and Frobenius norm F. MATH §7.

B = V diag(e) Vᵀ, V : (d, r) uniform with orthonormal columns, e = tr/r + z, z Gaussian less its mean and scaled so that
Σ e² = F². `centred` subtracts tr B, the mean of f for x ~ N(0, I) and for x uniform on the sphere of radius √d.
On the sphere of radius ρ: power (ρ² tr B/d − tr B·[centred])² in degree 0, 2ρ⁴(F² − tr²/d)/(d(d+2)) in degree 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.params import Params as Base

Floats = NDArray[np.float64]


class Params(Base):
    rank: int | None = Field(None, ge=1, description="rank r of B; d by default")
    trace: float = Field(0.0, description="trace of B, at most √r F in size; ±F for rank 1")
    frobenius: float = Field(1.0, gt=0, description="Frobenius norm F of B")
    centred: bool = Field(False, description="subtract the trace")


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"rank": 1, "trace": 1.0},
    {"rank": 3, "trace": -1.2, "frobenius": 2.0, "centred": True},
)


def _spread(params: Params, dim: int) -> tuple[int, float]:
    """The rank, and the root of Σ z² = F² − tr²/r."""
    rank = params.rank or dim
    if rank > dim:
        raise BadInput(f"rank = {rank}: must be at most the dimension {dim}")
    left = params.frobenius**2 - params.trace**2 / rank
    if left < -1e-12 * params.frobenius**2 or (rank == 1 and left > 1e-12 * params.frobenius**2):
        most = params.frobenius * math.sqrt(rank)
        allowed = f"±{most:g} for rank 1" if rank == 1 else f"between −{most:.6g} and {most:.6g} for rank {rank}"
        raise BadInput(f"trace = {params.trace}: must be {allowed} and Frobenius norm {params.frobenius:g}")
    return rank, math.sqrt(max(left, 0.0))


def draw(params: Params, dim: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    dim = checks.draw_from(dim, rng)
    rank, spread = _spread(params, dim)
    checks.room(4 * dim * rank, f"dim = {dim} and rank = {rank}")
    Q, R = np.linalg.qr(rng.standard_normal((dim, rank)))
    V = Q * np.sign(np.diag(R))  # uniform whatever signs LAPACK prefers
    z = rng.standard_normal(rank)
    z -= z.mean()
    if rank > 1:
        z *= spread / np.linalg.norm(z)
    e = params.trace / rank + z
    shift = params.trace if params.centred else 0.0

    def target(X: Floats) -> Floats:
        values: Floats = (checks.matrix(X, dim=dim) @ V) ** 2 @ e - shift
        return values

    return target


def power(params: Params, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
    """Exact, for x uniform on the sphere of this radius."""
    dim, max_degree = checks.dimension(dim, least=2), checks.degree(max_degree)
    radius = checks.number(radius, "radius", above=0)
    _spread(params, dim)
    p = np.zeros(max(max_degree, 2) + 1)
    p[0] = (radius**2 * params.trace / dim - params.trace * params.centred) ** 2
    p[2] = 2 * radius**4 * max(params.frobenius**2 - params.trace**2 / dim, 0.0) / (dim * (dim + 2))
    return p[: max_degree + 1]
