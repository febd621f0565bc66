"""Eigenvalues of a zonal kernel, by the cheapest way that reaches the accuracy asked for. MATH §4.

float64 where its error bound suffices at every degree; Arb otherwise. A kernel that is only known in float64 (a user's
own activation) gets float64's values with their errors, and inf where nothing of a value can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.kernels.spectra.cube import cube_eigenvalues, float64_cube_eigenvalues
from simlab.kernels.spectra.float64 import float64_eigenvalues
from simlab.kernels.spectra.result import Eigenvalues
from simlab.kernels.spectra.sample import Profile, Profile64
from simlab.kernels.spectra.sphere import sphere_eigenvalues

FLOAT64_RTOL = 1e-14
"""float64 is not tried for less: its bound is never below 1e-15, and Arb takes tenths of a second."""


@dataclass(frozen=True)
class Zonal:
    """A zonal kernel κ(u), and what must be known of it to find its eigenvalues.

    exact: κ in Arb; None where it is only known in float64.
    float64: κ(t, s) in float64; None where it is not wanted.
    grading: the integer m for which κ is analytic in θ^{1/m} at θ = 0 and π: 1 for the ReLU family and smooth kernels,
        2^{L−2} for step and sign of depth L ≥ 3.
    degree: degree of κ where it is a polynomial, else None.
    noise: relative error of `float64`.
    """

    exact: Profile | None
    float64: Profile64 | None
    grading: int = 1
    degree: int | None = None
    noise: float = 2.0**-50


def eigenvalues(kappa: Zonal, dim: int, max_degree: int, *, domain: str = "sphere", rtol: float = 1e-15) -> Eigenvalues:
    """μ_0 … μ_{max_degree} of κ on the sphere S^{dim−1} or the cube {±1}^dim, to relative `rtol` where it is exact."""
    checks.choice(domain, "domain", ("sphere", "cube"))
    grading, degree, noise = kappa.grading, kappa.degree, kappa.noise
    if kappa.float64 is not None and (kappa.exact is None or rtol >= FLOAT64_RTOL):
        if domain == "sphere":
            quick = float64_eigenvalues(kappa.float64, dim, max_degree, grading, degree=degree, noise=noise)
        else:
            quick = float64_cube_eigenvalues(kappa.float64, dim, max_degree, degree=degree, noise=noise)
        if kappa.exact is None or quick.errors.max() <= rtol:
            return quick
    if kappa.exact is None:
        raise BadInput("a spectrum needs the kernel's profile, in Arb or in float64")
    if domain == "cube":
        return cube_eigenvalues(kappa.exact, dim, max_degree, rtol, degree=degree)
    return sphere_eigenvalues(kappa.exact, dim, max_degree, rtol=rtol, grading=grading, degree=degree)
