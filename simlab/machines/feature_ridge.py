"""Ridge regression over random features: f(x) = Φ(x)·a, a the minimiser of ‖Φa − y‖² + λ‖a‖². MATH §5, §7.

Φ : (n, p) are the features of a map of `simlab.networks`. Its weights are drawn once, in `fit`, and serve for test
inputs too. λ = `ridge` is not scaled by n. λ = 0 is least squares, of least norm if the answer is not unique.

There are three methods:

- "gram", if p > n: a = Φᵀα, (ΦΦᵀ + λI)α = y, over blocks of features. This is kernel ridge regression with the kernel
  ΦΦᵀ.
- "normal", if p ≤ n and λ ≥ 1e-8 ‖Φ‖²_F: (ΦᵀΦ + λI)a = Φᵀy, over blocks of rows. Forming ΦᵀΦ changes the answer by a
  relative eps‖Φ‖²/λ ≤ 2e-8 or so.
- "qr", if p ≤ n and λ is smaller or 0: Φ = QR over blocks of rows, Rᵀ(Ra − Qᵀy) + λa = 0. The condition number is not
  squared.

Memory: one block of features and a few matrices of min(n, p)² entries, however large n·p is. A block has 64 MB unless
`memory` is given; the number is fixed because bits depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.linalg import lapack

from simlab.core import checks
from simlab.core.checks import BadData
from simlab.core.errors import BadInput, shown
from simlab.core.kinds import Kind
from simlab.core.resources import free_memory
from simlab.machines import dense
from simlab.machines._feature_sums import (
    NormalEquations,
    block_slices,
    feature_gram,
    finite_map,
    normal_equations,
    transposed_times,
    triangle,
)
from simlab.machines.dense import EPS, Dense
from simlab.machines.estimator import Estimator, inputs, labels
from simlab.networks.network import FeatureMap

__all__ = [
    "FeaturePath",
    "FeatureRidge",
    "NormalEquations",
    "feature_path",
    "finite_map",
    "normal_equations",
    "solve_normal",
]

Floats = NDArray[np.float64]
NORMAL_RIDGE_SHARE = 1e-8
"""Smallest λ/‖Φ‖²_F at which the normal equations are accurate enough."""
MOST_MATRICES = 4
"""Number of matrices of min(n, p)² entries that a method needs at most."""


@dataclass(frozen=True)
class FeaturePath:
    """Fits f_j(x) = Φ(x)·a_j at ridges j = 1 … r.

    features: the feature map.
    weights: its weights, as drawn.
    ridges: λ, r of them.
    coefficients: a, (r, p) or (r, p, c).
    residuals: of the equations that `method` solved, over the norm of their right-hand side; one per ridge.
    notes: one per ridge; empty, or why some directions were left out.
    method: "gram", "normal" or "qr".
    """

    features: FeatureMap
    weights: Floats
    ridges: tuple[float, ...]
    coefficients: Floats
    residuals: tuple[float, ...]
    notes: tuple[str, ...]
    method: str

    def predict(self, X: ArrayLike, memory: int | None = None) -> Floats:
        """f_j(x_i) : (r, m) or (r, m, c), at the rows of X : (m, d); memory: bytes per block of features."""
        data, memory, p = inputs(X), checked_memory(memory), self.coefficients.shape[1]
        stacked = np.moveaxis(self.coefficients, 0, -1).reshape(p, -1)
        map_of, out = finite_map(self.features, self.weights), np.empty((len(data), stacked.shape[1]))
        for rows in block_slices(len(data), p, memory):
            out[rows] = map_of(data[rows]) @ stacked
        shape = (len(data), *self.coefficients.shape[2:], len(self.ridges))
        return np.moveaxis(out.reshape(shape), -1, 0)


def feature_path(
    features: FeatureMap,
    weights: Floats,
    X: ArrayLike,
    y: ArrayLike,
    ridges: Sequence[float],
    memory: int | None = None,
) -> FeaturePath:
    """Fits at several ridges from one pass over the features.

    features: the feature map.
    weights: its weights, as `features.draw` gives them.
    X: (n, d), one input per row.
    y: (n,) or (n, c).
    ridges: the values of λ, 0 or more.
    memory: bytes per block of features; None for 64 MB.
    """
    checked_map(features)
    data, memory = inputs(X), checked_memory(memory)
    targets, chosen = labels(y, len(data)), tuple(dense.checked_ridges(ridges))
    map_of, n, p = finite_map(features, weights), len(data), features.count(data.shape[1])
    need, free = MOST_MATRICES * 8 * min(n, p) ** 2, free_memory()
    if need > free:
        raise BadInput(
            f"{p} features of {n} samples: {need / 1e9:.1f} GB needed and {free / 1e9:.1f} GB free; use fewer"
        )

    def blocks() -> Any:
        for rows in block_slices(n, p, memory):
            yield data[rows], targets[rows]

    if p > n:
        method, found = "gram", _solve_each(feature_gram(map_of, data, p, memory), targets, chosen)
        # All ridges side by side, (n, r c): one more pass over the features serves them all.
        stacked = np.concatenate([one.coefficients.reshape(n, -1) for one in found], axis=1)
        pulled = transposed_times(map_of, data, p, stacked, memory)
        coefficients = [a.reshape(p, *targets.shape[1:]) for a in np.split(pulled, len(chosen), axis=1)]
    else:
        first = next(block_slices(n, p, memory))
        # ‖Φ‖²_F, estimated from the first block of rows.
        size = np.sum(np.square(map_of(data[first]))) * n / first.stop
        if min(chosen) >= NORMAL_RIDGE_SHARE * size and min(chosen) > 0:
            method, found = "normal", solve_normal(normal_equations(map_of, blocks()), chosen)
        else:
            method, found = "qr", _solve_triangle(triangle(map_of, blocks(), memory), targets.shape, p, chosen)
        coefficients = [one.coefficients for one in found]
    residuals, notes = tuple(one.residual for one in found), tuple(one.note for one in found)
    return FeaturePath(features, weights, chosen, np.array(coefficients), residuals, notes, method)


def solve_normal(equations: NormalEquations, ridges: Sequence[float]) -> list[Dense]:
    """a with (G + λI)a = r, one solution per ridge λ; of least norm if the matrix is singular."""
    return _solve_each(equations.gram, equations.moment, ridges)


def _solve_each(K: Floats, Y: Floats, ridges: Sequence[float]) -> list[Dense]:
    """(K + λI)α = Y, one solution per ridge λ.

    More than 20 ridges share one eigendecomposition, which costs as much as 20 factorisations.
    """
    if len(ridges) > 20:
        return dense.path(K, Y, ridges)
    return [dense.solve(K, Y, ridge, overwrite=len(ridges) == 1) for ridge in ridges]


def _solve_triangle(T: Floats, shape: tuple[int, ...], p: int, ridges: Sequence[float]) -> list[Dense]:
    """One solution per ridge λ from the triangle T of [Φ Y], packed as R = T[:p, :p], QᵀY = T[:p, p:].

    Residuals are those of RᵀRa + λa = RᵀQᵀY. shape: that of the labels, (n,) or (n, c).
    """
    R, C = T[:p, :p], T[:p, p:]
    rhs, cutoff = R.T @ C, max(shape[0], p) * EPS
    svd: tuple[Floats, Floats, Floats] | None = None
    found = []
    for ridge in ridges:
        # A singular value decomposition costs about as much as the triangles of six ridges.
        a, rank, note = _solve_regular(R, C, ridge, cutoff) if len(ridges) <= 6 else None, None, ""
        if a is None:
            svd = svd or linalg.svd(R, check_finite=False)
            U, s, Vt = svd
            retained = s**2 + ridge > (cutoff * s[0]) ** 2
            inverse = s[retained] / (s[retained] ** 2 + ridge)
            a, rank = Vt[retained].T @ (inverse[:, np.newaxis] * (U.T @ C)[retained]), int(retained.sum())
            if rank < p:
                note = f"the features are linearly dependent (rank {rank} of {p}): least-squares solution of least norm"
        rhs_norm = dense.norm(rhs)
        residual = dense.norm(R.T @ (C - R @ a) - ridge * a) / rhs_norm if rhs_norm > 0 else 0.0
        found.append(Dense(a.reshape(p, *shape[1:]), residual, rank, note))
    return found


def _solve_regular(R: Floats, C: Floats, ridge: float, cutoff: float) -> Floats | None:
    """a : (p, c) by back substitution; for λ > 0 from the triangle of [R; √λ I].

    Returns None if that is numerically singular: its reciprocal condition number is not above `cutoff`.
    """
    if ridge > 0:
        stacked = np.block([[R, C], [ridge**0.5 * np.eye(len(R)), np.zeros_like(C)]])
        T = linalg.qr(np.asfortranarray(stacked), mode="r", overwrite_a=True, check_finite=False)[0]
        R, C = T[: len(R), : len(R)], T[: len(R), len(R) :]
    rcond, failed = lapack.dtrcon(R)
    if failed != 0 or not rcond > cutoff:
        return None
    a: Floats = linalg.solve_triangular(R, C, check_finite=False)
    return a


class FeatureRidge(Estimator):
    """Follows scikit-learn: ``FeatureRidge(networks.get("random_features", width=500), ridge=0.1).fit(X, y)``.

    features: feature map of `simlab.networks`.
    ridge: λ, 0 or more; not scaled by n.
    seed: of the random weights: a whole number, or a NumPy Generator to draw from.
    memory: bytes per block of features; None for 64 MB.

    After `fit`:

    weights_: weights of the feature map, as drawn.
    coef_: a, (p,) or (p, c).
    residual_, note_, method_: as in `FeaturePath`.
    n_features_in_: dimension d of the inputs.
    feature_names_in_: names of the columns, if X was a data frame.
    """

    def __init__(self, features: Any, ridge: float = 0.0, seed: Any = 0, memory: int | None = None) -> None:
        self.features = features
        self.ridge = ridge
        self.seed = seed
        self.memory = memory

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Draw the weights and fit to X : (n, d) and y : (n,) or (n, c)."""
        self._path = self.path(self._inputs(X, reset=True), y, [self.ridge])
        self.weights_, self.coef_, self.method_ = self._path.weights, self._path.coefficients[0], self._path.method
        self.residual_, self.note_ = self._path.residuals[0], self._path.notes[0]
        return self

    def path(self, X: ArrayLike, y: ArrayLike, ridges: Sequence[float]) -> FeaturePath:
        """Fits at several ridges, with the weights that `fit` would draw. Does not change this machine's own fit."""
        features, memory, data = checked_map(self.features), checked_memory(self.memory), inputs(X)
        rng = np.random.default_rng(checked_seed(self.seed))
        weights = features.draw(data.shape[1], rng)
        return feature_path(features, weights, data, y, ridges, memory)

    def predict(self, X: ArrayLike) -> Floats:
        """f(x_i) : (m,) or (m, c), at the rows of X : (m, d)."""
        self._check_fitted()
        f: Floats = self._path.predict(self._inputs(X, reset=False), checked_memory(self.memory))[0]
        return f


def checked_seed(seed: Any) -> Any:
    """A seed for `numpy.random.default_rng`: a whole number, a list of them, or a generator; else BadData."""
    if isinstance(seed, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence | np.random.RandomState):
        return seed
    try:
        if isinstance(seed, list | tuple):
            return [checks.whole(part, "seed", least=0) for part in seed]
        return checks.whole(seed, "seed", least=0)
    except BadInput:
        raise BadData(f"seed = {shown(seed)}: must be a number, at least 0, or a numpy Generator") from None


def checked_map(features: Any) -> FeatureMap:
    """The feature map itself; raises BadData for anything else."""
    if not isinstance(features, FeatureMap):
        name = features.kind if isinstance(features, Kind) else features
        raise BadData(
            f"features = {shown(name)}: must be a feature map, such as networks.get('random_features', width=9)"
        )
    return features


def checked_memory(memory: Any) -> int | None:
    """Bytes per block, at least 1; None for the default."""
    return None if memory is None else checks.whole(memory, "memory", least=1)
