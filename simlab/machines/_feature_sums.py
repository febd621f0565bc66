"""Sums over features Φ : (n, p) that least squares needs, block by block, so that Φ is never in memory as a whole.

- `normal_equations`: G = ΦᵀΦ (p, p), r = ΦᵀY and Σ Y², over blocks of rows, which may be fresh samples, any number.
- `triangle`: T with TᵀT = [Φ Y]ᵀ[Φ Y], by QR over blocks of rows. It serves as G and r do, but the condition number is
  not squared; about five times the work.
- `feature_gram`: K = ΦΦᵀ (n, n), over blocks of features.
- `transposed_times`: Φᵀα, over blocks of features.

The size of a block is fixed unless the caller gives `memory`: sums in another order have other last digits.
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
"""Pairs (X, Y) of samples: X (k, d), Y (k,) or (k, c)."""
BLOCK_BYTES = 1 << 26
"""Default size of a block of features: 64 MB."""


class NormalEquations(NamedTuple):
    """Sums over the samples.

    gram: ΦᵀΦ, (p, p).
    moment: ΦᵀY, (p,) or (p, c).
    power: ΣY², a number or (c,).
    """

    gram: Floats
    moment: Floats
    power: Any


def finite_map(features: FeatureMap, weights: Floats) -> Callable[..., Floats]:
    """The function (X, part) → Φ of a feature map with drawn weights; it raises BadInput if Φ is not finite.

    X : (n, d). part: slice of the p features; None for all. Φ : (n, p), or as many columns as `part` has.
    """

    def map_of(X: Floats, part: slice | None = None) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            Phi: Floats = features.features_of(weights, X, part)
        if not np.isfinite(Phi).all():
            raise BadInput("features: NaN or infinity among them; use smaller inputs or another activation")
        return Phi

    return map_of


def block_slices(total: int, entries: int, memory: int | None = None) -> Iterator[slice]:
    """Slices that cover range(total), one per block.

    entries: floats needed per index.
    memory: bytes per block; None for `BLOCK_BYTES`.
    """
    step = max(1, (memory or BLOCK_BYTES) // (8 * max(1, entries)))
    for begin in range(0, total, step):
        yield slice(begin, min(begin + step, total))


def normal_equations(feature_fn: Callable[[Floats], Floats], blocks: Blocks) -> NormalEquations:
    """ΦᵀΦ, ΦᵀY and ΣY², summed over blocks (X, Y) of samples, where Φ = feature_fn(X)."""
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
    """T with TᵀT = [Φ Y]ᵀ[Φ Y], upper triangular, with p + c columns and at most as many rows.

    Blocks are gathered until they have twice as many rows as T, or more if `memory` (bytes) allows it: each QR works
    through T again.
    """
    T: Floats | None = None
    gathered: list[Floats] = []
    rows = 0

    def triangle_of(parts: list[Floats]) -> Floats:
        stacked = np.asfortranarray(np.concatenate(parts))
        found: Floats = linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][: stacked.shape[1]]
        return found

    for X, Y in blocks:
        gathered.append(np.column_stack([feature_fn(X), Y]))
        rows += len(X)
        width = gathered[-1].shape[1]
        if rows >= max(2 * width, (memory or BLOCK_BYTES) // (8 * width)):
            T, gathered, rows = triangle_of([*([] if T is None else [T]), *gathered]), [], 0
    if T is None and not gathered:
        raise BadInput("blocks: there is none; at least one block (X, Y) of samples is needed")
    return T if T is not None and not gathered else triangle_of([*([] if T is None else [T]), *gathered])


def feature_gram(feature_fn: Callable[..., Floats], X: Floats, count: int, memory: int | None = None) -> Floats:
    """K = ΦΦᵀ : (n, n), summed over blocks of the `count` features; memory: bytes per block."""
    K = np.zeros((len(X), len(X)), order="F")
    for part in block_slices(count, len(X), memory):
        Phi = np.ascontiguousarray(feature_fn(X, part))
        _add_square(K, Phi.T, transposed=True)
    return _mirrored(K)


def transposed_times(
    feature_fn: Callable[..., Floats], X: Floats, count: int, alpha: Floats, memory: int | None = None
) -> Floats:
    """Φᵀα : (p,) or (p, c), where p = `count` and alpha : (n,) or (n, c); memory: bytes per block."""
    a = np.empty((count, *alpha.shape[1:]))
    for part in block_slices(count, len(X), memory):
        a[part] = feature_fn(X, part).T @ alpha
    return a


def _add_square(A: Floats, B: Floats, transposed: bool = False) -> None:
    """A += BBᵀ, or BᵀB if `transposed`, in the lower triangle; both in Fortran order, so that nothing is copied."""
    same = blas.dsyrk(1.0, B, beta=1.0, c=A, trans=int(transposed), lower=1, overwrite_c=1)
    assert np.shares_memory(same, A)


def _mirrored(A: Floats) -> Floats:
    """A as a whole symmetric matrix in C order, from its lower triangle in Fortran order; nothing is copied."""
    fill_upper(A)
    return A.T
