"""Ridge regression over random features: f(x) = Φ(x)·a, a the minimiser of ‖Φa − y‖² + λ‖a‖². MATH §5, §7.

Φ (n, p) are the features of a map of `simlab.networks`, its weights drawn once, in `fit`, and the same for test inputs.
λ = `ridge` is not scaled by n; λ = 0 is least squares, of least norm where the answer is not unique. Three ways:

- "gram", p > n: a = Φᵀα, (ΦΦᵀ + λI)α = y, over blocks of features: kernel ridge regression with the kernel ΦΦᵀ;
- "normal", p ≤ n: (ΦᵀΦ + λI)a = Φᵀy over blocks of rows, for λ ≥ 1e-8 ‖Φ‖²_F: forming ΦᵀΦ leaves an error of about
  eps‖Φ‖²/λ ≤ 2e-8 of the answer;
- "qr", p ≤ n and λ smaller or 0: Φ = QR over blocks of rows, Rᵀ(Ra − Qᵀy) + λa = 0, whose condition is not squared.

Memory: a block of features (64 MB unless `memory` says otherwise: a fixed number, as bits depend on it) and a few
matrices of min(n, p)² entries, whatever n·p is.
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
    bound,
    feature_gram,
    normal_equations,
    pieces,
    pulled_back,
    triangle,
)
from simlab.machines.dense import EPS, Dense
from simlab.machines.estimator import Estimator, inputs, labels
from simlab.networks.network import FeatureMap

__all__ = [
    "FeaturePath",
    "FeatureRidge",
    "NormalEquations",
    "bound",
    "feature_path",
    "normal_equations",
    "solve_normal",
]

Floats = NDArray[np.float64]
SQUARED = 1e-8
"""λ/‖Φ‖²_F from which on the normal equations are good enough."""
MATRICES = 4
"""How many matrices of min(n, p)² entries the ways need at most."""


@dataclass(frozen=True)
class FeaturePath:
    """`coefficients` (r, p) or (r, p, c) at each of r `ridges`.

    `residuals`: of the equations that `method` solved, relative to their right-hand side; `notes`: empty, or why some
    directions were left out.
    """

    features: FeatureMap
    weights: Floats
    ridges: tuple[float, ...]
    coefficients: Floats
    residuals: tuple[float, ...]
    notes: tuple[str, ...]
    method: str

    def predict(self, X: ArrayLike, memory: int | None = None) -> Floats:
        """(r, m) or (r, m, c)"""
        data, memory, p = inputs(X), checked_memory(memory), self.coefficients.shape[1]
        stacked = np.moveaxis(self.coefficients, 0, -1).reshape(p, -1)
        map_of, out = bound(self.features, self.weights), np.empty((len(data), stacked.shape[1]))
        for rows in pieces(len(data), p, memory):
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
    """The answers at several ridges from one pass over the features."""
    checked_map(features)
    data, memory = inputs(X), checked_memory(memory)
    targets, chosen = labels(y, len(data)), tuple(dense.checked_ridges(ridges))
    map_of, n, p = bound(features, weights), len(data), features.count(data.shape[1])
    need, free = MATRICES * 8 * min(n, p) ** 2, free_memory()
    if need > free:
        raise BadInput(
            f"{p} features of {n} samples: {need / 1e9:.1f} GB needed and {free / 1e9:.1f} GB free; use fewer"
        )

    def blocks() -> Any:
        for rows in pieces(n, p, memory):
            yield data[rows], targets[rows]

    if p > n:
        method, found = "gram", _solved(feature_gram(map_of, data, p, memory), targets, chosen)
        stacked = np.concatenate([dense.coefficients.reshape(n, -1) for dense in found], axis=1)
        pulled = pulled_back(map_of, data, p, stacked, memory)
        coefficients = [a.reshape(p, *targets.shape[1:]) for a in np.split(pulled, len(chosen), axis=1)]
    else:
        first = next(pieces(n, p, memory))
        size = np.sum(np.square(map_of(data[first]))) * n / first.stop
        if min(chosen) >= SQUARED * size and min(chosen) > 0:
            method, found = "normal", solve_normal(normal_equations(map_of, blocks()), chosen)
        else:
            method, found = "qr", _by_triangle(triangle(map_of, blocks(), memory), targets.shape, p, chosen)
        coefficients = [dense.coefficients for dense in found]
    residuals, notes = tuple(dense.residual for dense in found), tuple(dense.note for dense in found)
    return FeaturePath(features, weights, chosen, np.array(coefficients), residuals, notes, method)


def solve_normal(equations: NormalEquations, ridges: Sequence[float]) -> list[Dense]:
    """(G + λI)a = r at each λ; of least norm where that is singular."""
    return _solved(equations.gram, equations.moment, ridges)


def _solved(K: Floats, Y: Floats, ridges: Sequence[float]) -> list[Dense]:
    """An eigendecomposition costs 20 factorisations."""
    if len(ridges) > 20:
        return dense.path(K, Y, ridges)
    return [dense.solve(K, Y, ridge, overwrite=len(ridges) == 1) for ridge in ridges]


def _by_triangle(T: Floats, shape: tuple[int, ...], p: int, ridges: Sequence[float]) -> list[Dense]:
    """From T of [Φ Y]: R = T[:p, :p], QᵀY = T[:p, p:]. The residual is that of RᵀRa + λa = RᵀQᵀY."""
    R, C = T[:p, :p], T[:p, p:]
    rhs, cutoff = R.T @ C, max(shape[0], p) * EPS
    decomposed: tuple[Floats, Floats, Floats] | None = None
    found = []
    for ridge in ridges:
        # Singular values cost about as much as the triangles of six ridges.
        a, rank, note = _regular(R, C, ridge, cutoff) if len(ridges) <= 6 else None, None, ""
        if a is None:
            decomposed = decomposed or linalg.svd(R, check_finite=False)
            U, s, Vt = decomposed
            kept = s**2 + ridge > (cutoff * s[0]) ** 2
            inverse = s[kept] / (s[kept] ** 2 + ridge)
            a, rank = Vt[kept].T @ (inverse[:, np.newaxis] * (U.T @ C)[kept]), int(kept.sum())
            if rank < p:
                note = f"the features are linearly dependent (rank {rank} of {p}): least-squares solution of least norm"
        whole = dense.norm(rhs)
        residual = dense.norm(R.T @ (C - R @ a) - ridge * a) / whole if whole > 0 else 0.0
        found.append(Dense(a.reshape(p, *shape[1:]), residual, rank, note))
    return found


def _regular(R: Floats, C: Floats, ridge: float, cutoff: float) -> Floats | None:
    """By substitution, from the triangle of [R; √λ I] where λ > 0; None where that is numerically singular."""
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

    `seed` is a number, or a Generator to draw from. After `fit`: `weights_`, as drawn; `coef_` (p,) or (p, c);
    `residual_`, `note_`, `method_` as in `FeaturePath`; `n_features_in_` and, for data frames, `feature_names_in_`.
    """

    def __init__(self, features: Any, ridge: float = 0.0, seed: Any = 0, memory: int | None = None) -> None:
        self.features = features
        self.ridge = ridge
        self.seed = seed
        self.memory = memory

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._path = self.path(self._inputs(X, reset=True), y, [self.ridge])
        self.weights_, self.coef_, self.method_ = self._path.weights, self._path.coefficients[0], self._path.method
        self.residual_, self.note_ = self._path.residuals[0], self._path.notes[0]
        return self

    def path(self, X: ArrayLike, y: ArrayLike, ridges: Sequence[float]) -> FeaturePath:
        """The fits at several ridges, with the weights that `fit` would draw; this machine's own fit stays."""
        features, memory, data = checked_map(self.features), checked_memory(self.memory), inputs(X)
        rng = np.random.default_rng(checked_seed(self.seed))
        weights = features.draw(data.shape[1], rng)
        return feature_path(features, weights, data, y, ridges, memory)

    def predict(self, X: ArrayLike) -> Floats:
        """f(x_i) : (m,) or (m, c)"""
        self._check_fitted()
        f: Floats = self._path.predict(self._inputs(X, reset=False), checked_memory(self.memory))[0]
        return f


def checked_seed(seed: Any) -> Any:
    """What NumPy makes a generator of: one, or whole numbers."""
    if isinstance(seed, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence | np.random.RandomState):
        return seed
    try:
        if isinstance(seed, list | tuple):
            return [checks.whole(part, "seed", least=0) for part in seed]
        return checks.whole(seed, "seed", least=0)
    except BadInput:
        raise BadData(f"seed = {shown(seed)}: must be a number, at least 0, or a numpy Generator") from None


def checked_map(features: Any) -> FeatureMap:
    """A feature map; anything else is refused."""
    if not isinstance(features, FeatureMap):
        name = features.kind if isinstance(features, Kind) else features
        raise BadData(
            f"features = {shown(name)}: must be a feature map, such as networks.get('random_features', width=9)"
        )
    return features


def checked_memory(memory: Any) -> int | None:
    return None if memory is None else checks.whole(memory, "memory", least=1)
