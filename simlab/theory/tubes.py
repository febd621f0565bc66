"""The share of a sphere inside tubes span(v_k) + R_d B of R^d, where a two-layer net keeps its transform. MATH §8.

A point ξ of the sphere of radius ρ lies in the tube about v where its part across v is no longer than R_d. With
z = R_d/ρ = 1/`ratio` that is |ξ̄·v̄| ≥ √(1−z²), and ξ̄·v̄ has a beta law:

    I(ρ) = I_{z²}((d−1)/2, 1/2),  1 for ρ ≤ R_d;     −(1/d) log I → log(ρ/R_d)          (`share`, `rate`)
    I(2R_d) ≈ 2^{−(d−1)} √(8/(3π(d−1))).

In logarithms, a = (d−1)/2: I = z^{2a} √(1−z²) /(a B(a, 1/2)) · K, K a continued fraction near 1 (Lentz's method;
DLMF 8.17.22) for z² below the mean of the beta law, and the complement above it: no underflow in any dimension.

h(ρ), the share of the sphere in a union of m tubes, is at most min(1, m I). Of given directions it is exact at d = 2
(a union of arcs of half-angle arcsin z about ±v_k) and a mean over random points, with its standard error, elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.sphere.zonal import axes

Floats = NDArray[np.float64]
TERMS = 400  # at the mean of the beta law the fraction takes O(√d) terms: enough to d = 10⁴, and far beyond off it
MOST_RATIO = 1e150  # its square is a float
MOST_SAMPLES = 1_000_000_000
BLOCK_FLOATS = 1 << 22  # cosines at a time: 32 MB


def check_dim(dim: int) -> int:
    """The dimension; BadInput below 2."""
    if checks.whole(dim, "dim", most=checks.MOST_DIM) < 2:
        raise BadInput(f"dim = {dim}: tubes need a whole number, 2 or more (on a line one direction is all there is)")
    return int(dim)


def log_share(dim: int, ratio: ArrayLike) -> Floats:
    """log I at ρ = ratio·R_d; 0 for ratio ≤ 1."""
    check_dim(dim)
    u = _ratio(ratio)
    a, flat = (dim - 1) / 2, np.maximum(u, 1.0).ravel()
    # 1 − z² from the ratio itself, without the cancellation near 1.
    x, rest = flat**-2.0, (flat - 1) * (flat + 1) / flat / flat
    found = np.empty_like(flat)
    far = x < (a + 1) / (a + 2.5)
    found[~far] = np.log1p(-special.betainc(0.5, a, rest[~far]))
    prefactor = -2 * a * np.log(flat[far]) + 0.5 * np.log(rest[far]) - math.log(a) - special.betaln(a, 0.5)
    found[far] = prefactor + np.log(_fraction(a, 0.5, x[far]))
    return found.reshape(u.shape)


def _fraction(a: float, b: float, x: Floats) -> Floats:
    """The continued fraction of the incomplete beta function, by the modified Lentz method."""
    c = np.ones_like(x)
    d = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    h = d.copy()
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        last = h
        for coefficient in (even, odd):
            d, c = 1.0 / (1.0 + coefficient * d), 1.0 + coefficient / c
            h = h * d * c
        if np.all(np.abs(h - last) <= 1e-15 * h):
            break
    return h


def share(dim: int, ratio: ArrayLike) -> Floats:
    """I, the share of the sphere of radius ratio·R_d in one tube; 0 where it is below the least float."""
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(log_share(dim, ratio)))


def share_bound(dim: int, ratio: ArrayLike, width: float) -> Floats:
    """min(1, m I): no m tubes hold more of the sphere."""
    width = checks.number(width, "width", least=1)
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(np.minimum(0.0, math.log(width) + log_share(dim, ratio))))


def rate(ratio: ArrayLike) -> Floats:
    """lim −(1/d) log I = log(ratio): the exponential rate at which one tube loses the sphere; 0 for ratio ≤ 1."""
    return np.asarray(np.log(np.maximum(_ratio(ratio), 1.0)))


def _ratio(ratio: ArrayLike) -> Floats:
    """ρ/R_d, 0 or more."""
    return checks.bounded(ratio, "ratio", least=0, most=MOST_RATIO)


@dataclass(frozen=True)
class Cover:
    """The part of the sphere that lies in tubes.

    share: h at each ratio.
    error: its standard error, 0 where it is exact.
    """

    share: Floats
    error: Floats


def share_of_tubes(
    directions: ArrayLike, ratio: ArrayLike, rng: np.random.Generator | None = None, samples: int = 100_000
) -> Cover:
    """h of the tubes about the directions; exact at d = 2, by random points above.

    directions: (m, d) rows v_k of any length but 0.
    ratio: ρ/R_d, of any shape.
    rng, samples: random points of the sphere, for d > 2.
    """
    V = np.atleast_2d(checks.array(directions, "directions", ndim=(1, 2), empty=False))
    check_dim(V.shape[1])
    norms = np.linalg.norm(V, axis=1, keepdims=True)
    if not V.size or not np.all(norms > 0) or not np.all(np.isfinite(norms)):
        raise BadInput("directions: every row must be finite and not 0, and there must be one")
    u = _ratio(ratio)
    if V.shape[1] == 2:
        found = np.array([_arcs(np.arctan2(V[:, 1], V[:, 0]), z) for z in np.minimum(1.0, 1 / np.maximum(u, 1)).flat])
        return Cover(found.reshape(u.shape), np.zeros(u.shape))
    if rng is None or checks.whole(samples, "samples", most=MOST_SAMPLES) < 2:
        raise BadInput(f"samples = {samples}, rng = {rng}: above dimension 2 random points are needed, at least 2")
    checks.generator(rng)
    ends = np.sort(covered_to(V / norms, samples, rng))
    h = 1 - np.searchsorted(ends, u.ravel(), side="left").reshape(u.shape) / samples
    return Cover(h, np.sqrt(h * (1 - h) / (samples - 1)))


def covered_to(unit: Floats, samples: int, rng: np.random.Generator) -> Floats:
    """The ratio up to which each of `samples` random rays stays inside the tubes: 1/√(1 − max_k (ξ̄·v̄_k)²)."""
    unit, samples = checks.matrix(unit, "unit"), checks.whole(samples, "samples", least=0, most=MOST_SAMPLES)
    checks.generator(rng)
    if not len(unit):
        raise BadInput(f"unit has shape {unit.shape}: must have one direction or more, one per row")
    checks.memory(samples, f"samples = {samples}")
    found = np.empty(samples)
    step = max(1, BLOCK_FLOATS // len(unit))
    for at in range(0, samples, step):
        X = axes(min(step, samples - at), unit.shape[1], rng)
        cosine = np.abs(X @ unit.T).max(axis=1)
        with np.errstate(divide="ignore"):  # a point on an axis stays for ever
            found[at : at + step] = 1 / np.sqrt(np.maximum(0.0, (1 - cosine) * (1 + cosine)))
    return found


def _arcs(angles: Floats, z: float) -> float:
    """The share of the circle in arcs of half-angle arcsin z about ±v_k: on a circle of length π, by its gaps."""
    half = math.asin(z)
    at = np.sort(np.mod(angles, math.pi))
    gaps = np.diff(at, append=at[0] + math.pi)
    return float(np.minimum(gaps, 2 * half).sum() / math.pi)
