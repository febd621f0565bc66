"""Linear regression over given features on the cube {±s}^d: the least risk over all coefficients. MATH §9.

E‖H − CΦ‖², minimised over C, is a least-squares problem whose rows are the corners: all 2^d of them where they can be
enumerated; else a sample, and then what is found is a *lower* estimate: in the mean, the smallest error on a sample is
below the error there of the best coefficients, which is the oracle risk. (By the factor 1 − D/n, where the residual
does not depend on the place.) The rows are reduced to a triangle block by block (Householder); combinations of features
smaller than `DEFICIENT_SHARE` of the largest are taken for rounding, and what Φ spans to be without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.theory.cube import Subset, Terms, characters, corners, subsets_of, sums

Floats = NDArray[np.float64]
Features = Callable[[Floats], Floats]
BLOCK_ROWS = 4096
"""Corners whose features are computed at a time."""
MOST_DIM = 20
"""2^20 corners are enumerated in seconds."""
DEFICIENT_SHARE = 1e-11
"""Singular values below this share of the largest count as 0: those of Householder's triangle are right to 1e-14."""


def every_corner(dim: int, scale: float, block: int = BLOCK_ROWS) -> Iterator[Floats]:
    """The 2^d corners of {±s}^d, in blocks of rows."""
    scale, block = checks.number(scale, "scale", above=0), checks.whole(block, "block", least=1)
    if checks.dimension(dim) > MOST_DIM:
        raise BadInput(f"dim = {dim}: at most {MOST_DIM} for a sum over all corners; give a sample of them")
    places = np.arange(dim)
    for first in range(0, 1 << dim, block):
        numbers = np.arange(first, min(first + block, 1 << dim))[:, np.newaxis]
        yield np.asarray(scale * (2.0 * ((numbers >> places) & 1) - 1.0))


def oracle_risks(
    features: Features, dim: int, scale: float, targets: Sequence[Terms], sample: Floats | None = None
) -> tuple[Floats, Floats]:
    """(least risk of every target, its standard error)

    features: X (n, d) → Φ (n, p).
    dim, scale: the cube {±scale}^dim.
    targets: Walsh expansions.
    sample: corners (n, d) to take means over; by default all of them, and the errors are 0.
    """
    checks.function(features, "features")
    dim, scale = checks.dimension(dim), checks.number(scale, "scale", above=0)
    subsets = subsets_of(targets)
    if not subsets:
        raise BadInput("targets: none of them has a term; must be one or more subsets S with their coefficients")
    if sample is not None:
        sample = checks.matrix(sample, "sample", dim=dim)
        if not len(sample):
            raise BadInput(f"sample has shape {sample.shape}: must have one corner or more, one per row")

    def blocks() -> Iterator[Floats]:
        if sample is None:
            yield from every_corner(dim, scale)
        else:
            corners(sample, scale, "sample")
            for first in range(0, len(sample), BLOCK_ROWS):
                yield sample[first : first + BLOCK_ROWS]

    triangle: Floats = np.empty((0, 0))
    count, D = 0, 0
    for X in blocks():
        Phi = checks.array(features(X), "features", ndim=2)
        if len(Phi) != len(X) or not Phi.shape[1]:
            raise BadInput(f"features: gave shape {Phi.shape} for {len(X)} inputs; must be ({len(X)}, p), one row each")
        rows = np.hstack([Phi, characters(np.sign(X), subsets)])
        stacked = np.vstack([triangle.reshape(-1, rows.shape[1]), rows])
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
        count, D = count + len(X), Phi.shape[1]
    U, sizes, V = np.linalg.svd(triangle[:D, :D], full_matrices=False)
    some = sizes > DEFICIENT_SHARE * sizes[0]
    along = U[:, some].T @ triangle[:D, D:]
    rest = np.vstack([triangle[:D, D:] - U[:, some] @ along, triangle[D:, D:]])
    risks = sums(rest.T @ rest / count, subsets, targets)
    if sample is None:
        return risks, np.zeros(len(risks))
    coefficients = V[some].T @ (along / sizes[some, np.newaxis])
    residuals = (characters(np.sign(X), subsets) - features(X) @ coefficients for X in blocks())
    return risks, _spread(residuals, subsets, targets, count)


def _spread(residuals: Iterator[Floats], subsets: Sequence[Subset], targets: Sequence[Terms], count: int) -> Floats:
    """The standard error of the mean of ‖H(x) − CΦ(x)‖² over the sample."""
    place = {S: i for i, S in enumerate(subsets)}
    first, second = np.zeros(len(targets)), np.zeros(len(targets))
    for left in residuals:
        for i, terms in enumerate(targets):
            c = np.array([terms[S] for S in terms]).reshape(len(terms), -1)
            squares = np.sum((left[:, [place[S] for S in terms]] @ c) ** 2, axis=1)
            first[i] += squares.sum()
            second[i] += np.sum(squares**2)
    variance = np.maximum(second / count - (first / count) ** 2, 0.0)
    return np.asarray(np.sqrt(variance / count))
