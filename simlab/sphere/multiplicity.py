"""N(d, k), the dimension of the spherical harmonics of degree k on S^{d−1}. MATH §4.

N(d, k) = (2k+d−2)/k · C(k+d−3, d−2), N(d, 0) = 1; equal to C(k+d−1, d−1) − C(k+d−3, d−1), the homogeneous
polynomials of degree k less those of degree k − 2. On the circle (d = 2) N = 2 for k ≥ 1.
"""

from __future__ import annotations

import math

from simlab.core import checks
from simlab.core.errors import BadInput

MOST_FACTORS = 100_000  # of a binomial coefficient, an exact integer of twice as many bits


def multiplicity(dim: int, degree: int) -> int:
    """N(d, k), exactly."""
    dim, degree = checks.sphere_dimension(dim), checks.degree(degree, "degree", most=checks.MOST_DIM)
    if min(dim, degree) > MOST_FACTORS:
        raise BadInput(f"degree = {degree} and dim = {dim}: the smaller must be at most {MOST_FACTORS}")
    if degree == 0:
        return 1
    return (2 * degree + dim - 2) * math.comb(degree + dim - 3, dim - 2) // degree


def log_multiplicity(dim: int, degree: int) -> float:
    """ln N(d, k); the integer itself may exceed float64 (d = 500: from k = 650 on)."""
    return math.log(multiplicity(dim, degree))


def log10_multiplicity(dim: int, degree: int) -> float:
    """log10 N(d, k)."""
    return math.log10(multiplicity(dim, degree))
