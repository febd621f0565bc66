"""Rows of a stored array as inputs: float64, finite, of unit norm if asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput

Floats = NDArray[np.float64]


def permuted(count: int, n: int, rng: np.random.Generator, what: str) -> NDArray[np.int64]:
    """The first n of `count` rows in random order, without repetition."""
    if n > count:
        raise BadInput(f"{n} samples asked for: {what} has {count} rows, and none is drawn twice")
    return np.asarray(rng.permutation(count)[:n], dtype=np.int64)


def inputs(rows: NDArray[Any], numbers: NDArray[np.int64], what: str) -> Floats:
    """X : (n, d) from rows that have these numbers in the file."""
    X = np.array(rows, dtype=np.float64, order="C")
    if (bad := ~np.isfinite(X).all(axis=1)).any():
        more = f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""
        raise BadInput(f"{what}: row {int(numbers[bad].min())}{more} holds NaN or infinity")
    return X


def to_unit_norm(X: Floats) -> None:
    """Each row divided by its norm, in place; zero rows stay zero."""
    # By the largest entry first: squares of very large or small ones leave the range of float64.
    largest = np.maximum(X.max(axis=1, initial=0.0), -X.min(axis=1, initial=0.0))
    X /= np.where(largest > 0, largest, 1.0)[:, np.newaxis]
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    X /= np.where(norms > 0, norms, 1.0)[:, np.newaxis]
