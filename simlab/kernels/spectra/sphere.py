"""Eigenvalues of a zonal kernel on the sphere, correct to float64 at every degree, by certified quadrature. MATH §4.

Two quadratures of different node counts and digits are compared degree by degree. Where the first cannot tell an
eigenvalue from its own rounding, more digits are taken; where the two differ by more than rtol/100 of μ_k, more nodes.
The better of the two is the result, and their difference is the stated error. Rounding to float64 (1.1e-16) is then
the larger error.

Both runs for the NTK of depth 3: 1.9 s for degree 1000 at d = 10, 0.2 s for degree 200 at d = 64 or degree 100 at
d = 500; the two then differ by less than 1e-43 (1e-50). An entire kernel, exp(u − 1), degree 400 at d = 10: μ ~ 1e-999.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, ctx

from simlab.core.errors import BadInput, SimlabError
from simlab.kernels.spectra.moments import Moments, moments
from simlab.kernels.spectra.parity import wanted
from simlab.kernels.spectra.result import Eigenvalues, Floats
from simlab.kernels.spectra.sample import LOG2_10, Profile, check_sphere, log2
from simlab.sphere.multiplicity import log10_multiplicity

MAX_ROUNDS = 14
MAX_DIGITS = 12_000
MAX_NODES = 30_000
SPARE_DIGITS = 28
"""Digits beyond the smallest eigenvalue: 17 to be right, the rest to see that they are."""


def start_nodes(max_degree: int, dim: int, digits: int, grading: int) -> int:
    """Nodes on half the sphere that mostly suffice at once.

    Needed for ReLU's NTK of depth 3 (K, d, digits): 160, 10, 64: 140; 1000, 10, 74: 560; 200, 64, 112: 205;
    100, 500, 165: 280. Step, K = 200, d = 10: depth 3 (grading 2) 225, depth 5 (grading 8) less than 450.
    """
    return math.ceil((0.42 * max_degree + 0.9 * digits) * (1 + grading) / 2 + 0.2 * dim) + 40


def start_digits(max_degree: int, dim: int) -> int:
    """Digits before the first of μ_K, if N μ_K ~ K^−4 as of ReLU's random features."""
    log10_guess = -log10_multiplicity(dim, max_degree) - 4 * math.log10(max_degree + 1) - 2
    return math.ceil(max(0.0, -log10_guess)) + 5


def relative_differences(coarse: list[arb], fine: list[arb]) -> Floats:
    """|coarse − fine|/|fine| per degree; 0 where both are exactly 0, inf where only `fine` is."""
    with ctx.workprec(64):
        logs = [(log2(_exact_difference(a, b)), log2(b)) for a, b in zip(coarse, fine, strict=True)]
    return np.array(
        [0.0 if d == -math.inf else 2.0 ** min(d - v, 1023.0) if v > -math.inf else np.inf for d, v in logs]
    )


def _exact_difference(a: arb, b: arb) -> arb:
    """a − b of two exact numbers, without the rounding to ctx.prec of the two before."""
    with ctx.workprec(max(64, math.ceil(_top(a, b)) + 64)):
        return a - b


def _top(a: arb, b: arb) -> float:
    """Bits from the leading bit of either to the last of both."""
    ends = [(log2(x), int(x.man_exp()[1])) for x in (a, b) if x != 0]
    return max(top for top, _ in ends) - min(last for _, last in ends) if ends else 0.0


def sphere_eigenvalues(
    profile: Profile,
    dim: int,
    max_degree: int,
    *,
    rtol: float = 1e-15,
    grading: int = 1,
    degree: int | None = None,
) -> Eigenvalues:
    """μ_0 … μ_{max_degree} of κ = `profile` on S^{dim−1}, relative differences of two resolutions ≤ rtol/100.

    grading, degree: as in `simlab.kernels.spectra.eigenvalues.Zonal`.
    """
    check_sphere(dim, max_degree)
    if grading < 1:
        raise BadInput(f"grading = {grading}: must be 1 or more")
    if not 1e-30 <= rtol < 1:
        raise BadInput(f"rtol = {rtol}: must lie between 1e-30 and 1")
    want = wanted(profile, max_degree, degree)
    last = max((k for k, some in enumerate(want) if some), default=-1)
    if last < 0:
        return Eigenvalues([arb(0)] * (max_degree + 1), np.zeros(max_degree + 1), 0, 0, "arb")
    goal = rtol / 100
    spare = SPARE_DIGITS + max(0, math.ceil(-math.log10(goal)) - 17)
    digits = start_digits(last, dim) + spare
    nodes = start_nodes(last, dim, digits, grading)
    slow, error = 0, math.inf
    for _ in range(MAX_ROUNDS):
        coarse = moments(profile, dim, want, nodes, digits, grading)
        # What the first run cannot resolve needs no second one.
        need = _digits_needed(coarse, want, spare)
        if need > digits:
            worst, error = int(np.argmin(_sizes(coarse, want))), math.inf
            digits = need
            nodes = max(nodes, start_nodes(last, dim, digits, grading))
        else:
            fine = moments(profile, dim, want, nodes * 9 // 8 + 8, digits + 10, grading)
            errors = relative_differences(coarse.values, fine.values)
            before, worst = error, int(np.argmax(errors))
            error = float(errors[worst])
            slow = slow + 1 if error > before / 10 else 0
            if error <= goal:
                return Eigenvalues(fine.values, errors, fine.digits, fine.nodes, "arb")
            nodes = nodes * 4 // 3 + 16
        # An analytic kernel gains digits in proportion to nodes: 5 times as many for next to nothing are enough.
        if slow == 6 or digits > MAX_DIGITS or nodes > MAX_NODES:
            break
    known = "too small to be told from 0" if error == math.inf else f"known to {error:.1e} (wanted {goal:.1e})"
    raise SimlabError(
        f"degree {worst} of the spectrum in dimension {dim}: with {coarse.nodes} nodes and {coarse.digits} digits μ is "
        f"{known}; it may be exactly 0, or the kernel not analytic in the angle (grading = {grading}): "
        "ask for fewer degrees"
    )


def _sizes(run: Moments, want: list[bool]) -> Floats:
    """log10 |μ_k| over the run's rounding noise; inf where nothing was wanted, −inf at most where μ_k came out as 0."""
    pairs = zip(run.values, want, strict=True)
    return np.array([log2(v) / LOG2_10 - run.log10_noise if some else np.inf for v, some in pairs])


def _digits_needed(run: Moments, want: list[bool], spare: int) -> int:
    """Digits for the smallest eigenvalue and `spare` more, as far as this run can tell.

    Degrees lost in the noise are extrapolated by a + b k + c ln k! through the last resolved degree, its half and its
    quarter: exact for the decay of entire kernels, too much for a power law, which is seldom lost.
    """
    sizes = _sizes(run, want)
    resolved = np.flatnonzero(np.isfinite(sizes) & (sizes > 5))
    lost = np.flatnonzero(sizes <= 5)
    if lost.size == 0:
        return max(run.digits, math.ceil(run.digits - float(sizes.min()) + spare - 8))
    most = 6 * run.digits
    if resolved.size < 3 or resolved[-1] < 4:
        return most
    k = np.array([resolved[np.searchsorted(resolved, resolved[-1] / part)] for part in (1, 2, 4)], dtype=float)
    if len(set(k)) < 3:
        return most
    basis = np.stack([np.ones(3), k, [math.lgamma(x + 1) for x in k]], axis=1)
    a, b, c = np.linalg.solve(basis, sizes[k.astype(int)])
    smallest = a + b * lost[-1] + c * math.lgamma(lost[-1] + 1)
    return int(min(max(run.digits - smallest + spare + 5, run.digits + 20), most))
