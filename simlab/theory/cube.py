"""Kernel regression on the cube {±s}^d under the uniform law, exactly and for any d. MATH §4, §9.

A zonal kernel is K(x, y) = Σ_S λ_|S| χ_S(x) χ_S(y), χ_S = ∏_{i∈S} sign x_i, so that for samples x_n, with j the number
of coordinates in which two of them differ and K_k Krawtchouk's polynomials,

    E_x K(x, x_n) K(x, x_m) = K₂(j) = Σ_k λ_k² K_k(j),        E_x K(x, x_n) χ_S(x) = λ_|S| χ_S(x_n):

the risk of R = Σ_n w_n K(·, x_n) against H = Σ_S c_S χ_S needs no sum over corners. Its least value over all weights,
whatever they may depend on, is the **oracle risk** ‖H‖² − bᵀK₂⁺b, b_n = Σ_S c_S λ_|S| χ_S(x_n): what is left of H
beside its projection onto the span of the K(·, x_n). Risks are sums over outputs.

Quadratic forms are given as matrices over a list of sets S, since many targets share them: the risk of one is
Σ_r c_rᵀ M c_r. ‖χ_S projected‖² over all 2^d sets S sums to the dimension of the span.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpz
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput, SimlabError, shown
from simlab.kernels.kernel import Kernel
from simlab.kernels.spectra.cube import transform
from simlab.kernels.spectra.decompose import FLINT_LOCK

Floats = NDArray[np.float64]
Subset = tuple[int, ...]
Terms = Mapping[Subset, Floats]
"""A target by its Walsh expansion: S → c_S : (k,)."""

PRECISIONS = (128, 256, 512)
"""Bits in which K₂ is inverted, each tried where the one before is not enough."""
EPS = 2.0**-52
MOST_DIM = 10_000
ACCURACY = 1e-13
"""Largest error of a captured energy, by Arb's own bound; as much is taken off the oracle risk."""


def corners(X: ArrayLike, scale: float | None = None, name: str = "X") -> tuple[Floats, float]:
    """The signs (n, d) of points of {±s}^d, and s: as given, or the size of the first entry."""
    points = checks.array(X, name, ndim=2, must="(n, d), one corner of the cube per row")
    if points.size == 0:
        raise BadInput(f"{name} has shape {points.shape}: must be (n, d), one corner of the cube per row")
    s = abs(float(points[0, 0])) if scale is None else checks.number(scale, "scale", above=0)
    wrong = ~(np.abs(np.abs(points) - s) <= 1e-12 * s) if s > 0.0 else np.ones(points.shape, dtype=bool)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise BadInput(f"{name}: row {row} has the entry {points[row, column]:g}; must be ±{s:g}, a corner of the cube")
    return np.sign(points), s


def subsets_of(targets: Iterable[Terms]) -> list[Subset]:
    """Every S of these targets once."""
    return list(dict.fromkeys(S for terms in _checked_targets(targets) for S in terms))


def _checked_subsets(subsets: Any) -> list[Subset]:
    """Tuples of coordinates."""
    must = "sets of coordinates, each a tuple of whole numbers"
    found = [
        tuple(checks.listed(S, "subsets: S", must, most=MOST_DIM)) for S in checks.listed(subsets, "subsets", must)
    ]
    return [tuple(checks.whole(i, "subsets: a coordinate", least=0) for i in S) for S in found]


def _checked_targets(targets: Any, name: str = "targets") -> list[Terms]:
    """Tables S → c_S of numbers, all of one number of outputs within a target."""
    must = "tables of subsets S and their coefficients c_S"
    found: list[Terms] = []
    for terms in checks.listed(targets, name, f"a list of {must}"):
        if not isinstance(terms, Mapping):
            raise BadInput(f"{name}: {shown(terms)}; must be {must}")
        known = {S: checks.array(c, f"{name}: the coefficient of {shown(S)}", ndim=(0, 1)) for S, c in terms.items()}
        if len({c.shape for c in known.values()}) > 1:
            raise BadInput(f"{name}: coefficients of several lengths; must be k numbers each, k the outputs")
        found.append(dict(zip(_checked_subsets(list(known)), known.values(), strict=True)))
    return found


def characters(signs: Floats, subsets: Sequence[Subset]) -> Floats:
    """χ_S(x_n) : (n, subsets)"""
    signs, subsets = checks.matrix(signs, "signs"), _checked_subsets(subsets)
    if not subsets:
        return np.empty((len(signs), 0))
    for S in subsets:
        if len(set(S)) < len(S) or not all(0 <= i < signs.shape[1] for i in S):
            raise BadInput(f"subsets: S = {shown(S)}; must be coordinates from 0 to {signs.shape[1] - 1}, each once")
    return np.column_stack([signs[:, list(S)].prod(axis=1) for S in subsets])


def sums(form: Floats, subsets: Sequence[Subset], targets: Iterable[Terms]) -> Floats:
    """Σ_r c_rᵀ M c_r of every target."""
    subsets, targets = _checked_subsets(subsets), _checked_targets(targets)
    place = {S: i for i, S in enumerate(subsets)}
    form = checks.array(
        form, "form", shape=(len(subsets),) * 2, must=f"({len(subsets)}, {len(subsets)}), one row a subset"
    )
    found = []
    for terms in targets:
        if unknown := [S for S in terms if S not in place]:
            raise BadInput(f"targets: {shown(unknown[0])} is none of the subsets; name every S of a target there")
        at = [place[S] for S in terms]
        c = np.array([terms[S] for S in terms]).reshape(len(at), -1)
        found.append(float(np.sum(c * (form[np.ix_(at, at)] @ c))))
    return np.array(found)


def krawtchouk(dim: int) -> list[list[int]]:
    """K_k(j), k and j from 0 to d: (k+1)K_{k+1} = (d−2j)K_k − (d−k+1)K_{k−1}."""
    dim = checks.dimension(dim, least=0, most=MOST_DIM)
    rows = [[1] * (dim + 1)]
    before = [0] * (dim + 1)
    for k in range(dim):
        rows.append([((dim - 2 * j) * rows[k][j] - (dim - k + 1) * before[j]) // (k + 1) for j in range(dim + 1)])
        before = rows[k]
    return rows


def _eigenvalues(kernel: Kernel, dim: int, scale: float) -> Floats:
    """λ_0 … λ_d on {±s}^d.

    To full relative accuracy where the spectrum tells: for homogeneous kernels, and where s√d is the radius that κ(u)
    stands for. Elsewhere the kernel is taken to be its values in float64, whose smallest λ_k are rounding.
    """
    radius = scale * math.sqrt(dim)
    powers = {leaf.homogeneity() for leaf in kernel.leaves()}
    natural = {math.sqrt(dim) if leaf.depends_on_dim() else 1.0 for leaf in kernel.leaves()}
    h = next(iter(powers)) if len(powers) == 1 and kernel.linear_terms()[0][1] in kernel.leaves() else None
    known = kernel.spectrum(dim, dim, domain="cube").eigenvalues if h is not None or len(natural) == 1 else None
    if known is not None and len(natural) == 1 and math.isclose(radius, next(iter(natural)), rel_tol=1e-14):
        return np.array(known)
    if known is not None and h is not None and len(natural) == 1:
        return np.asarray(known * (radius / next(iter(natural))) ** (2 * h))
    points = np.where(np.arange(dim) < np.arange(dim + 1)[:, np.newaxis], -scale, scale)
    kappa = kernel.gram(points, points[:1], threads=1)[:, 0]
    bits = 1200  # float64 numbers as they are
    whole = [fmpz(int(math.ldexp(m, 53))) << (bits + e - 53) for m, e in map(math.frexp, kappa.tolist())]
    with FLINT_LOCK, ctx.workprec(bits + dim):
        found = transform(whole, [True] * (dim + 1))
        return np.array([float(arb((v, -bits - dim)) / math.comb(dim, k)) for k, v in enumerate(found)])


@dataclass(frozen=True, eq=False)
class CubeKernel:
    """A kernel on the cube.

    dim: d.
    eigenvalues: (d+1,) λ_0 … λ_d, taken to be exact.
    """

    dim: int
    eigenvalues: Floats

    def __post_init__(self) -> None:
        dim = checks.dimension(self.dim, most=MOST_DIM)
        found = checks.array(self.eigenvalues, "eigenvalues", shape=(dim + 1,), must=f"{dim + 1} numbers, λ_0 … λ_d")
        object.__setattr__(self, "eigenvalues", found)

    @classmethod
    def of(cls, kernel: Kernel, dim: int, scale: float) -> CubeKernel:
        """On {±scale}^dim."""
        if not isinstance(kernel, Kernel):
            raise checks.BadType(f"kernel = {shown(kernel)}: must be a kernel, such as simlab.kernels.ntk(3)")
        dim, scale = checks.dimension(dim, most=MOST_DIM), checks.number(scale, "scale", above=0, most=1e100)
        return cls(dim, _eigenvalues(kernel, dim, scale))

    def values(self, power: int = 1) -> list[arb]:
        """Σ_k λ_k^power K_k(j), j = 0 … d: the kernel itself, and K₂ for power 2."""
        power, table = checks.whole(power, "power", least=1, most=16), krawtchouk(self.dim)
        with ctx.workprec(4 * self.dim + 512):  # the K_k(j) alternate and are as large as 2^d
            scales = [arb(float(v)) ** power for v in self.eigenvalues]
            return [
                sum((a * row[j] for a, row in zip(scales, table, strict=True)), arb(0)) for j in range(self.dim + 1)
            ]

    def _signs(self, X: ArrayLike) -> Floats:
        signs, _ = corners(X)
        if signs.shape[1] != self.dim:
            raise BadInput(f"X has {signs.shape[1]} columns: must have {self.dim}, the dimension of the cube")
        return signs

    def _weights(self, weights: Any, n: int, columns: int, of: str) -> Floats:
        return checks.array(weights, "weights", shape=(n, columns), must=f"({n}, {columns}), one column for each {of}")

    def _projections(self, signs: Floats, subsets: Sequence[Subset]) -> Floats:
        """E K(·, x_n) χ_S : (n, subsets)"""
        return np.asarray(characters(signs, subsets) * self.eigenvalues[[len(S) for S in subsets]])

    def error_form(self, X: ArrayLike, weights: Floats, subsets: Sequence[Subset]) -> Floats:
        """E(χ_S − R_S)(χ_T − R_T) : (subsets, subsets), R_S = Σ_n w_nS K(·, x_n), weights : (n, subsets).

        A regression that is linear in its labels, of weights w = L y, has R_S of the labels χ_S(x_n).
        """
        signs, subsets = self._signs(X), _checked_subsets(subsets)
        weights = self._weights(weights, len(signs), len(subsets), "of the subsets")
        cross = self._projections(signs, subsets).T @ weights
        return np.asarray(np.eye(len(subsets)) - cross - cross.T + self._power(signs, weights))

    def risk(self, X: ArrayLike, weights: Floats, terms: Terms) -> float:
        """E‖H − R‖² of R_r = Σ_n w_nr K(·, x_n), weights : (n, outputs)."""
        terms = _checked_targets([terms], "terms")[0]
        signs, subsets = self._signs(X), list(terms)
        if not subsets:
            raise BadInput("terms: none; must be one or more subsets S with their coefficients")
        c = np.array([terms[S] for S in subsets]).reshape(len(subsets), -1)
        weights = self._weights(weights, len(signs), c.shape[1], "output")
        cross = np.sum(c * (self._projections(signs, subsets).T @ weights))
        return float(np.sum(c * c) - 2.0 * cross + np.trace(self._power(signs, weights)))

    def _power(self, signs: Floats, weights: Floats) -> Floats:
        """E R_i R_j = WᵀK₂W, in balls where large weights that cancel would leave less than 1e-10 of float64."""
        squares = self.values(2)
        K2 = np.array([float(v) for v in squares])
        if EPS * K2[0] * np.abs(weights).sum(axis=0).max(initial=0.0) ** 2 < 1e-10:
            return np.asarray(weights.T @ K2[_distances(signs)] @ weights)
        with FLINT_LOCK, ctx.workprec(PRECISIONS[1]):
            W = arb_mat(weights.tolist())
            found = W.transpose() * (arb_mat([[squares[j] for j in row] for row in _distances(signs).tolist()]) * W)
            return np.array([[float(found[i, j]) for j in range(found.ncols())] for i in range(found.nrows())])

    def captured(self, X: ArrayLike, subsets: Sequence[Subset]) -> Floats:
        """⟨Pχ_S, Pχ_T⟩ : (subsets, subsets), P the projection onto the span of the K(·, x_n), to within ACCURACY.

        K₂ is inverted in balls, as it is. Where it is singular to 512 bits 2^−256 of its diagonal is added (and 1024
        bits taken), which counts what the span has in directions larger than that.
        """
        subsets = _checked_subsets(subsets)
        signs = np.unique(self._signs(X), axis=0)
        squares = self.values(2)
        if not subsets or not squares[0] > 0:
            return np.zeros((len(subsets), len(subsets)))
        distances = _distances(signs).tolist()
        rights = self._projections(signs, subsets)
        for precision in (*PRECISIONS, 0):
            with FLINT_LOCK, ctx.workprec(precision or 2 * PRECISIONS[-1]):
                rows = [[squares[j] for j in row] for row in distances]
                if precision == 0:
                    for n, row in enumerate(rows):
                        row[n] = row[n] + squares[0] / arb(2) ** (PRECISIONS[-1] // 2)
                B = arb_mat(rights.tolist())
                try:
                    found = B.transpose() * arb_mat(rows).solve(B, algorithm="precond")
                except ZeroDivisionError:
                    continue
                entries = [found[i, j] for i in range(found.nrows()) for j in range(found.ncols())]
                if all(float(v.rad()) <= ACCURACY for v in entries):
                    M = np.array([float(v) for v in entries]).reshape(len(subsets), -1)
                    return np.asarray(0.5 * (M + M.T))
        raise SimlabError(f"{len(signs)} samples: the span of the kernel cannot be told to {ACCURACY:g}")

    def oracle_risks(self, X: ArrayLike, targets: Sequence[Terms]) -> Floats:
        """The least risk over all weights, of every target; rounding makes it smaller, never larger."""
        targets = _checked_targets(targets)
        subsets = subsets_of(targets)
        energy = sums(np.eye(len(subsets)), subsets, targets)
        left = energy - sums(self.captured(X, subsets), subsets, targets)
        sizes = np.array([np.sum(np.sum(np.abs(list(terms.values())), axis=0) ** 2) for terms in targets])
        return np.maximum(left - 2 * ACCURACY * sizes, 0.0)


def _distances(signs: Floats) -> NDArray[np.int64]:
    """In how many coordinates two rows differ : (n, n)"""
    return np.asarray(np.rint(0.5 * (signs.shape[1] - signs @ signs.T)), dtype=np.int64)
