"""The power of a function on the sphere by degree: f = Σ_ℓ f_ℓ, p_ℓ = E f_ℓ². MATH §7.

p_ℓ = N(d,ℓ) E f(x)f(x')P_ℓ(x·x'/‖x‖‖x'‖), x and x' independent and uniform, as N P_ℓ is the projection on degree ℓ.
`degree_power` estimates it over all pairs i ≠ j (or x from one sample and x' from another), with the standard error of
a jackknife that leaves out one of a few batches of points at a time. The error of p_ℓ falls like √(2N(d,ℓ)) E f²/n
until n ~ √N, so that high degrees need many points; an estimate may be negative.

A zonal f(x) = g(w·x), w a unit vector and x on the unit sphere, has p_ℓ = N(d,ℓ) (E g P_ℓ)² exactly (`zonal_power`), by
Gauss–Legendre panels in θ that end at the angles of the kinks of g: for g analytic between them E g P_ℓ is right to
about 1e-15 of max |g|, and p_ℓ to N(d,ℓ) times that of its root.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.jit import jit
from simlab.sphere.legendre import legendre
from simlab.sphere.multiplicity import log_multiplicity

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]
BATCHES = 20  # of points, for the jackknife
BLOCK_ROWS = 512
MOST_DEGREE = 100_000
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)


@dataclass(frozen=True, eq=False)
class DegreePower:
    """The power of f by degree.

    power : (K+1,).
    errors : (K+1,), standard errors of `power`.
    total: E f² over the points.
    total_error: standard error of `total`.
    """

    power: Floats
    errors: Floats
    total: float
    total_error: float


@jit
def _block(dim: int, u: Floats, v: Floats, w: Floats, same: bool, out: Floats) -> None:
    """out[ℓ] += Σ_ij v_i w_j P_ℓ(u_ij), over i < j where the points are the same."""
    for i in range(u.shape[0]):
        for j in range(i + 1 if same else 0, u.shape[1]):
            c, value = min(max(u[i, j], -1.0), 1.0), v[i] * w[j]
            before, here = 0.0, 1.0
            out[0] += value
            for k in range(out.size - 1):
                before, here = here, ((2 * k + dim - 2) * c * here - k * before) / (k + dim - 2) if k > 0 else c
                out[k + 1] += value * here


def degree_power(f: Function, dim: int, max_degree: int, X1: Floats, X2: Floats | None = None) -> DegreePower:
    """The power of f in degrees 0 … max_degree from uniform points X1 (n, d), or pairs of X1 with an independent X2.

    Points may have any norm: f is taken at them, the angle is that between them.
    """
    checks.function(f, "f")
    dim, max_degree = checks.sphere_dimension(dim), checks.degree(max_degree, most=MOST_DEGREE)
    first = _batches(f, dim, X1, "X1")
    second = first if X2 is None else _batches(f, dim, X2, "X2")
    count, same = BATCHES, X2 is None
    sums, pairs = np.zeros((count, count, max_degree + 1)), np.zeros((count, count))
    for a, (U, v) in enumerate(first):
        for b in range(a if same else 0, count):
            V, w = second[b]
            for start in range(0, len(v), BLOCK_ROWS):
                rows = slice(start, start + BLOCK_ROWS)
                if same and a == b:
                    after = slice(rows.stop, None)
                    _block(dim, U[rows] @ V[rows].T, v[rows], w[rows], True, sums[a, b])
                    _block(dim, U[rows] @ V[after].T, v[rows], w[after], False, sums[a, b])
                else:
                    _block(dim, U[rows] @ V.T, v[rows], w, False, sums[a, b])
            pairs[a, b] = len(v) * (len(v) - 1) // 2 if same and a == b else len(v) * len(w)
    scale = np.exp([log_multiplicity(dim, k) for k in range(max_degree + 1)])
    estimates = []
    for left_out in (None, *range(count)):
        batches = [i for i in range(count) if i != left_out]
        grid = np.ix_(batches, batches)
        estimates.append(scale * sums[grid].sum(axis=(0, 1)) / pairs[grid].sum())
    leave_one = np.array(estimates[1:])
    errors = np.sqrt((count - 1) / count * ((leave_one - leave_one.mean(axis=0)) ** 2).sum(axis=0))
    squares = np.concatenate([v**2 for _, v in (first if same else first + second)])
    return DegreePower(
        estimates[0], errors, float(squares.mean()), float(squares.std(ddof=1) / math.sqrt(squares.size))
    )


def _batches(f: Function, dim: int, X: Floats, name: str) -> list[tuple[Floats, Floats]]:
    """(directions, values) of BATCHES parts of the points."""
    X = checks.array(X, name, ndim=2, must=f"points (n, {dim})")
    if X.shape[1] != dim or len(X) < 2 * BATCHES:
        raise BadInput(f"{name}: points of shape {X.shape}: must be (n, {dim}) with n = {2 * BATCHES} or more")
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    if not (norms > 0).all():
        raise BadInput(f"{name}: point {int((~(norms > 0)).argmax())} has norm 0 or none: it lies on no sphere")
    values = checks.array(f(X), "f", finite=False)
    if values.shape != (len(X),) or not np.isfinite(values).all():
        raise BadInput(f"f: the function gave shape {values.shape} or a value that is not finite: must be ({len(X)},)")
    U = X / norms[:, np.newaxis]
    cuts = np.linspace(0, len(X), BATCHES + 1).astype(int)
    return [(np.ascontiguousarray(U[a:b]), np.ascontiguousarray(values[a:b])) for a, b in pairwise(cuts)]


def zonal_coefficients(g: Function, dim: int, max_degree: int, kinks: Sequence[float] = ()) -> Floats:
    """E g(u)P_ℓ(u) under the law of u = w·x, ℓ = 0 … max_degree; `kinks` are the u where g is not smooth."""
    u, law = angle_quadrature(dim, max_degree, kinks)
    values = checks.array(checks.function(g, "g")(u), "g")
    if values.shape != u.shape:
        raise BadInput(f"g: gave shape {values.shape} for {u.size} cosines; must be {u.shape}, one value for each")
    found: Floats = legendre(dim, max_degree, u) @ (law * values)
    return found


def zonal_power(g: Function, dim: int, max_degree: int, kinks: Sequence[float] = ()) -> Floats:
    """N(d,ℓ) (E g P_ℓ)², the power of f(x) = g(w·x) on the unit sphere by degree."""
    return power_of(zonal_coefficients(g, dim, max_degree, kinks), dim)


def power_of(coefficients: Floats, dim: int) -> Floats:
    """N(d,ℓ) c_ℓ² from c_ℓ = E g P_ℓ; by logarithms, as N may leave the range of float64."""
    coefficients = checks.array(coefficients, "coefficients", ndim=1)
    with np.errstate(divide="ignore"):
        logs = 2 * np.log(abs(coefficients)) + [log_multiplicity(dim, k) for k in range(coefficients.size)]
    return np.asarray(np.exp(logs))


def angle_quadrature(dim: int, max_degree: int, kinks: Sequence[float] = ()) -> tuple[Floats, Floats]:
    """Nodes u = cos θ and weights of E g(u) = c_d ∫ g(cos θ) sin^{d−2}θ dθ, panels ending at the kinks."""
    dim, max_degree = checks.sphere_dimension(dim), checks.degree(max_degree)
    kinks = checks.array(checks.listed(kinks, "kinks"), "kinks", ndim=1).tolist()
    ends = sorted({0.0, math.pi, *(math.acos(k) for k in kinks if -1.0 < k < 1.0)})
    # 32 nodes resolve 16 radians of P_ℓ, and 4 widths of the law of the angle.
    longest = min(math.pi / 8, 16.0 / (max_degree + 1), 4.0 / math.sqrt(dim))
    edges = np.concatenate(
        [np.linspace(a, b, math.ceil((b - a) / longest) + 1)[:-1] for a, b in pairwise(ends)] + [np.array([math.pi])]
    )
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    theta = (middle[:, np.newaxis] + half[:, np.newaxis] * NODES).ravel()
    log_c = math.lgamma(dim / 2) - math.lgamma((dim - 1) / 2) - 0.5 * math.log(math.pi)
    law = (half[:, np.newaxis] * WEIGHTS).ravel() * np.exp(log_c + (dim - 2) * np.log(np.sin(theta)))
    return np.cos(theta), law
