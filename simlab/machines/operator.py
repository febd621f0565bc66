"""A Gram matrix K seen as a map of vectors: `Stored` in float64 or float32, or `Tiled`, computed anew in every product.

There are two products. `apply(P)` is the one that conjugate gradients iterate. It works in the precision of the
storage: in float32 a sum of 50,000 terms has an error of about 1e-6 of the largest one. `exact(P)` multiplies the
*stored* numbers in float64; residuals are computed by it. Storing K in float32 changes each entry by a relative 6e-8 at
most.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from simlab.kernels import Kernel
from simlab.kernels.gram.assembly import TILE_ROWS, Assembly

Floats = NDArray[np.float64]
BLOCK_BYTES = 1 << 28
"""Workspace of a product that converts or computes blocks of the matrix: 256 MB."""


@runtime_checkable
class Operator(Protocol):
    """A symmetric, positive semi-definite matrix K : (n, n)."""

    @property
    def size(self) -> int:
        """Number n of rows."""

    @property
    def is_exact(self) -> bool:
        """Whether `apply` is as accurate as `exact`."""

    def apply(self, P: Floats) -> Floats:
        """K P : (n, c), in the precision of the storage; for the iteration."""

    def exact(self, P: Floats) -> Floats:
        """K P : (n, c), computed in float64; for residuals."""

    def columns(self, index: NDArray[np.int64]) -> Floats:
        """K[:, index] : (n, len(index)), in float64."""

    def diagonal(self) -> Floats:
        """Diagonal of K : (n,), in float64."""


@dataclass(frozen=True)
class Stored:
    """A matrix in memory or mapped from a file.

    K: (n, n), float64 or float32.
    """

    K: NDArray[Any]

    @property
    def size(self) -> int:
        return int(self.K.shape[0])

    @property
    def is_exact(self) -> bool:
        return self.K.dtype == np.float64

    def apply(self, P: Floats) -> Floats:
        return np.asarray(self.K @ P.astype(self.K.dtype, copy=False), dtype=np.float64)

    def exact(self, P: Floats) -> Floats:
        if self.is_exact:
            return self.apply(P)
        n = self.size
        product = np.empty((n, P.shape[1]))
        rows = max(1, BLOCK_BYTES // (8 * n))
        for begin in range(0, n, rows):
            product[begin : begin + rows] = self.K[begin : begin + rows].astype(np.float64) @ P
        return product

    def columns(self, index: NDArray[np.int64]) -> Floats:
        # K is symmetric, so rows serve as columns. Reading a column of a large matrix touches one page per entry.
        return np.ascontiguousarray(self.K[index].T, dtype=np.float64)

    def diagonal(self) -> Floats:
        return np.asarray(self.K.diagonal(), dtype=np.float64)


@dataclass(frozen=True)
class Tiled:
    """A matrix that is never stored: every product computes K(X, X) again, one square block at a time.

    kernel: K.
    X: inputs, (n, d).
    threads: threads for the entries of K.
    """

    kernel: Kernel
    X: NDArray[Any]
    threads: int

    @property
    def size(self) -> int:
        return int(self.X.shape[0])

    @property
    def is_exact(self) -> bool:
        return True

    def apply(self, P: Floats) -> Floats:
        """K P : (n, c). Only blocks on and below the diagonal are computed; their transposes serve above it."""
        n, block = self.size, self._block()
        product = np.zeros((n, P.shape[1]))
        scratch = np.empty(block * block)
        for i in range(0, n, block):
            rows = slice(i, min(i + block, n))
            for j in range(0, i + 1, block):
                columns = slice(j, min(j + block, n))
                shape = (rows.stop - i, columns.stop - j)
                tile = scratch[: shape[0] * shape[1]].reshape(shape)
                self._assembly.fill([tile], rows, columns, self.threads)
                product[rows] += tile @ P[columns]
                if i != j:
                    product[columns] += tile.T @ P[rows]
        return product

    exact = apply

    @functools.cached_property
    def _assembly(self) -> Assembly:
        return Assembly.of([self.kernel], self.X, self.X, True)

    def columns(self, index: NDArray[np.int64]) -> Floats:
        return np.asarray(self.kernel.gram(self.X, self.X[index], threads=self.threads))

    def diagonal(self) -> Floats:
        return self.kernel.diagonal(self.X)

    def _block(self) -> int:
        """Rows of a square block of about `BLOCK_BYTES`, a multiple of `TILE_ROWS`."""
        return max(TILE_ROWS, int((BLOCK_BYTES // 8) ** 0.5) // TILE_ROWS * TILE_ROWS)
