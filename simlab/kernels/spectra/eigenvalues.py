"""Eigenvalues of a zonal kernel, by the cheapest way that reaches the accuracy asked for. MATH §4.

float64 where its error bound suffices at every degree; Arb otherwise. A kernel that is only known in float64 (a user's
own activation) gets float64's values with their errors, and inf where nothing of a value can be trusted.
"""

from __future__ import annotations

from simlab.core.errors import BadInput
from simlab.kernels.spectra.cube import cube_eigenvalues, float64_cube_eigenvalues
from simlab.kernels.spectra.float64 import float64_eigenvalues
from simlab.kernels.spectra.result import Eigenvalues
from simlab.kernels.spectra.sample import Profile, Profile64
from simlab.kernels.spectra.series import power_exponential_eigenvalues
from simlab.kernels.spectra.sphere import sphere_eigenvalues

__all__ = [
    "Eigenvalues",
    "cube_eigenvalues",
    "eigenvalues",
    "float64_cube_eigenvalues",
    "float64_eigenvalues",
    "power_exponential_eigenvalues",
    "sphere_eigenvalues",
]

FLOAT64_RTOL = 1e-14
"""float64 is not tried for less: its bound is never below 1e-15, and Arb takes tenths of a second."""


def eigenvalues(
    profile: Profile | None,
    profile64: Profile64 | None,
    dim: int,
    max_degree: int,
    *,
    domain: str = "sphere",
    rtol: float = 1e-15,
    grading: int = 1,
    degree: int | None = None,
    log10_guess: float | None = None,
    noise: float = 2.0**-50,
) -> Eigenvalues:
    """μ_0 … μ_{max_degree} on the sphere or the cube of κ, `profile` in Arb and `profile64` in float64 (or None)."""
    if domain not in ("sphere", "cube"):
        raise BadInput(f"domain = {domain!r}: unknown (allowed: sphere, cube)")
    if profile64 is not None and (profile is None or rtol >= FLOAT64_RTOL):
        if domain == "sphere":
            quick = float64_eigenvalues(profile64, dim, max_degree, grading, degree=degree, noise=noise)
        else:
            quick = float64_cube_eigenvalues(profile64, dim, max_degree, degree=degree, noise=noise)
        if profile is None or quick.errors.max() <= rtol:
            return quick
    if profile is None:
        raise BadInput("a spectrum needs the kernel's profile, in Arb or in float64")
    if domain == "cube":
        return cube_eigenvalues(profile, dim, max_degree, rtol, degree=degree)
    return sphere_eigenvalues(
        profile, dim, max_degree, rtol=rtol, grading=grading, degree=degree, log10_guess=log10_guess
    )
