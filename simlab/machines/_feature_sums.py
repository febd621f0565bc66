"""What least squares over features needs of Φ (n, p), summed block by block so that Φ itself never is in memory.

- `normal_equations`: G = ΦᵀΦ (p, p), r = ΦᵀY, Σ Y², over blocks of rows: samples may be fresh ones without an end.
- `triangle`: T with TᵀT = [Φ Y]ᵀ[Φ Y] by QR over blocks of rows: as G and r, but without squaring the condition number;
  about five times the work.
- `feature_gram`: K = ΦΦᵀ (n, n) over blocks of features, and `pulled_back`: Φᵀα.

A block is of fixed size unless the caller says otherwise: sums in another order have other last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas

from simlab.core.errors import BadInput
from simlab.machines.dense import fill_upper
from simlab.networks.network import FeatureMap

Floats = NDArray[np.float64]
Blocks = Iterable[tuple[Floats, Floats]]
BLOCK_BYTES = 1 << 26


class NormalEquations(NamedTuple):
    """Sums over the samples: `gram` ΦᵀΦ (p, p), `moment` ΦᵀY (p,) or (p, c), `power` ΣY², a number or (c,)."""

    gram: Floats
    moment: Floats
    power: Any


def bound(features: FeatureMap, weights: Floats) -> Callable[..., Floats]:
    """The map of a drawn feature map, X (n, d) [, part] -> Φ (n, p), refused where it overflows."""

    def map_of(X: Floats, part: slice | None = None) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            Phi: Floats = features.features_of(weights, X, part)
        if not np.isfinite(Phi).all():
            raise BadInput("features: NaN or infinity among them; use smaller inputs or another activation")
        return Phi

    return map_of


def pieces(total: int, entries: int, memory: int | None = None) -> Iterator[slice]:
    """Slices of range(total) such that `entries` floats for each index fill a block."""
    step = max(1, (memory or BLOCK_BYTES) // (8 * max(1, entries)))
    for begin in range(0, total, step):
        yield slice(begin, min(begin + step, total))


def normal_equations(feature_fn: Callable[[Floats], Floats], blocks: Blocks) -> NormalEquations:
    """Over blocks (X, Y) of samples."""
    sums: NormalEquations | None = None
    for X, Y in blocks:
        Phi = np.ascontiguousarray(feature_fn(X))
        if sums is None:
            p, outputs = Phi.shape[1], np.shape(Y)[1:]
            sums = NormalEquations(np.zeros((p, p), order="F"), np.zeros((p, *outputs)), np.zeros(outputs))
        _add_square(sums.gram, Phi.T)
        sums.moment[...] += Phi.T @ Y
        sums.power[...] += np.sum(np.square(Y), axis=0)
    if sums is None:
        raise BadInput("blocks: there is none; at least one block (X, Y) of samples is needed")
    return NormalEquations(_mirrored(sums.gram), sums.moment, sums.power[()])


def triangle(feature_fn: Callable[[Floats], Floats], blocks: Blocks, memory: int | None = None) -> Floats:
    """T, upper triangular with p + c columns (at most as many rows). Blocks are gathered until they outweigh T."""
    T: Floats | None = None
    waiting: list[Floats] = []
    rows = 0

    def reduced(parts: list[Floats]) -> Floats:
        stacked = np.asfortranarray(np.concatenate(parts))
        found: Floats = linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][: stacked.shape[1]]
        return found

    for X, Y in blocks:
        waiting.append(np.column_stack([feature_fn(X), Y]))
        rows += len(X)
        width = waiting[-1].shape[1]
        if rows >= max(2 * width, (memory or BLOCK_BYTES) // (8 * width)):
            T, waiting, rows = reduced([*([] if T is None else [T]), *waiting]), [], 0
    if T is None and not waiting:
        raise BadInput("blocks: there is none; at least one block (X, Y) of samples is needed")
    return T if T is not None and not waiting else reduced([*([] if T is None else [T]), *waiting])


def feature_gram(feature_fn: Callable[..., Floats], X: Floats, count: int, memory: int | None = None) -> Floats:
    """K = ΦΦᵀ : (n, n)"""
    K = np.zeros((len(X), len(X)), order="F")
    for part in pieces(count, len(X), memory):
        Phi = np.ascontiguousarray(feature_fn(X, part))
        _add_square(K, Phi.T, transposed=True)
    return _mirrored(K)


def pulled_back(
    feature_fn: Callable[..., Floats], X: Floats, count: int, alpha: Floats, memory: int | None = None
) -> Floats:
    """Φᵀα : (p,) or (p, c)"""
    a = np.empty((count, *alpha.shape[1:]))
    for part in pieces(count, len(X), memory):
        a[part] = feature_fn(X, part).T @ alpha
    return a


def _add_square(A: Floats, B: Floats, transposed: bool = False) -> None:
    """A += BBᵀ, or BᵀB, in the lower triangle; both in Fortran's order, so that nothing is copied."""
    same = blas.dsyrk(1.0, B, beta=1.0, c=A, trans=int(transposed), lower=1, overwrite_c=1)
    assert np.shares_memory(same, A)


def _mirrored(A: Floats) -> Floats:
    """A in C order, its other triangle filled: A is in Fortran's with the lower one known."""
    fill_upper(A)
    return A.T
