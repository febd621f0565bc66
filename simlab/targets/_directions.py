"""Cosines with the directions x/‖x‖, which targets on the sphere depend on, and the check of their dimension."""

from __future__ import annotations

import numpy as np

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.target import Floats


def cosines(X: Floats, w: Floats) -> Floats:
    """w·x/‖x‖ : (n,), or (n, m); 0 at the zero vector, which has no direction.

    X: (n, d).
    w: unit vectors, (d,) or (d, m).
    """
    X = checks.matrix(X, dim=len(w))
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    products = X @ w
    norms = np.where(norms > 0, norms, 1.0)
    u: Floats = np.clip(products / (norms if w.ndim == 1 else norms[:, np.newaxis]), -1.0, 1.0)
    return u


def check_directions(count: int, dim: int) -> None:
    """Raise BadInput where `dim` has no sphere, or `count` unit vectors do not fit into memory."""
    if checks.dimension(dim) < 2:
        raise BadInput(f"dim = {dim}: a target on the sphere needs dimension 2 or more")
    checks.memory(2 * count * dim, f"dim = {dim}: {count} random directions" if count > 1 else f"dim = {dim}")
