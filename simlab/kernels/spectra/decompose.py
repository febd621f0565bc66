"""From a kernel to its spectrum and its end points: which way serves it. MATH §4.

A sum's eigenvalues are the sums of its terms'; exp(−c(1−u)^γ) has an exact series on the sphere; everything else is
quadrature of its profile, in Arb where the profile is known to any precision.
"""

from __future__ import annotations

import functools
import threading
from dataclasses import replace

import numpy as np
from flint import arb, ctx

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.kernels.kernel import Kernel, Leaf
from simlab.kernels.spectra.eigenvalues import Zonal, eigenvalues
from simlab.kernels.spectra.endpoints import Endpoints
from simlab.kernels.spectra.extract import extract
from simlab.kernels.spectra.extract64 import extract64
from simlab.kernels.spectra.result import Eigenvalues
from simlab.kernels.spectra.sample import Profile
from simlab.kernels.spectra.spectrum import Spectrum

FLINT_LOCK = threading.Lock()
"""FLINT's precision is a setting of the process: one thread at a time."""

MAX_DIM, MAX_DEGREE = 100_000, 20_000
"""What can be had in minutes; beyond, asymptotics serve better."""

MAX_GRADING = 32
QUADRATURE_NOISE = 1e-10
"""Relative error of a profile that is only known by quadrature in float64."""


def decompose(kernel: Kernel, dim: int, max_degree: int, domain: str, rtol: float) -> Spectrum:
    """Eigenvalues at degrees 0 … max_degree; computed once for equal arguments."""
    checks.choice(domain, "domain", ("sphere", "cube"))
    dim = checks.whole(dim, "dim", least=1 if domain == "cube" else 2, most=MAX_DIM)
    max_degree = checks.whole(max_degree, "max_degree", least=0, most=MAX_DEGREE)
    rtol = checks.number(rtol, "rtol", least=1e-30, below=1)
    if domain == "cube" and max_degree > dim:
        raise BadInput(f"max_degree = {max_degree}: at most {dim}, the dimension, on the cube")
    with FLINT_LOCK:
        return _decompose(kernel, dim, max_degree, domain, rtol)


@functools.lru_cache(maxsize=64)
def _decompose(kernel: Kernel, dim: int, max_degree: int, domain: str, rtol: float) -> Spectrum:
    parts = [(scale, _eigenvalues(term, dim, max_degree, domain, rtol)) for scale, term in kernel.linear_terms()]
    spectrum = Spectrum.of(kernel, domain, dim, _sum(parts), _trace(kernel))
    for array in (spectrum.degrees, spectrum.eigenvalues, spectrum.log10, spectrum.multiplicities, spectrum.errors):
        array.flags.writeable = False  # shared by everyone who asks
    return spectrum


def expand(kernel: Kernel) -> Endpoints:
    """By formula where there is one, else extracted from the profile."""
    terms = kernel.linear_terms()
    if len(terms) == 1 and isinstance(leaf := terms[0][1], Leaf) and (known := leaf.known_endpoints()) is not None:
        return known.scaled(terms[0][0])
    profile = profile_of(kernel)
    with FLINT_LOCK:
        return extract64(kernel.profile, noise=QUADRATURE_NOISE) if profile is None else extract(profile)


def profile_of(kernel: Kernel) -> Profile | None:
    """κ in Arb; None where a leaf is only known in float64."""
    if not all(leaf.has_arb() for leaf in kernel.leaves()):
        return None

    def profile(us: list[arb]) -> list[arb]:
        values = {leaf: np.array(leaf.profile_arb(us), dtype=object) for leaf in kernel.leaves()}
        return list(kernel.combine(values))

    return profile


def _trace(kernel: Kernel) -> float:
    if not all(leaf.has_arb() for leaf in kernel.leaves()):
        return float(kernel(1.0))
    with ctx.workdps(50):
        return float(kernel.combine({leaf: leaf.at_one_arb() for leaf in kernel.leaves()}))


def _eigenvalues(kernel: Kernel, dim: int, max_degree: int, domain: str, rtol: float) -> Eigenvalues:
    if domain == "sphere" and isinstance(kernel, Leaf):
        series = kernel.series_eigenvalues(dim, max_degree, rtol)
        if series is not None:
            return series
    grading = 1 if domain == "cube" else _grading(kernel)
    kappa = Zonal(profile_of(kernel), kernel.profile, grading, kernel.polynomial_degree())
    if kappa.exact is None:
        kappa = replace(kappa, noise=QUADRATURE_NOISE)
    return eigenvalues(kappa, dim, max_degree, domain=domain, rtol=rtol)


def _grading(kernel: Kernel) -> int:
    """m where all of κ's leaves are analytic in x, θ = (π/2) x^m."""
    gradings = [leaf.grading() for leaf in kernel.leaves()]
    known = [m for m in gradings if m is not None]
    if len(known) < len(gradings):
        raise BadInput(
            f"{kernel!r}: no way to its spectrum is known, as (1-u)^γ of an odd γ is multiplied; add instead"
        )
    if max(known) > MAX_GRADING:
        raise BadInput(
            f"{kernel!r}: too deep for a spectrum: an activation that jumps leaves (1-u)^(1/2^(depth-1)), which can be "
            f"integrated up to depth {MAX_GRADING.bit_length() + 1}"
        )
    return max(known)


def _sum(parts: list[tuple[float, Eigenvalues]]) -> Eigenvalues:
    if len(parts) == 1 and parts[0][0] == 1.0:
        return parts[0][1]
    digits = max(part.digits for _, part in parts)
    with ctx.workdps(digits + 50):
        terms = [[arb(scale) * value.mid() for value in part.values] for scale, part in parts]
        values = [sum(row, arb(0)).mid() for row in zip(*terms, strict=True)]
        shares = [
            [float(abs(term / value)) if value != 0 else 0.0 for term, value in zip(row, values, strict=True)]
            for row in terms
        ]
    errors = sum(
        (np.array(share) * part.errors for share, (_, part) in zip(shares, parts, strict=True)),
        np.zeros(len(values)),
    )
    methods = sorted({part.method for _, part in parts})
    return Eigenvalues(values, errors, digits, max(part.nodes for _, part in parts), "+".join(methods))
