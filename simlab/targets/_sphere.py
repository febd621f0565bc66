"""Directions: the x/‖x‖ that a target on the sphere depends on, and random unit vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.sphere.zonal import axes

Floats = NDArray[np.float64]


def cosines(X: Floats, w: Floats) -> Floats:
    """w·x/‖x‖ for w : (d,) or (d, m); 0 at the zero vector, which has no direction."""
    X = checks.matrix(X, dim=len(w))
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    products = X @ w
    norms = np.where(norms > 0, norms, 1.0)
    u: Floats = np.clip(products / (norms if w.ndim == 1 else norms[:, np.newaxis]), -1.0, 1.0)
    return u


def unit_vectors(count: int, dim: int, rng: np.random.Generator) -> Floats:
    """(count, d), each uniform on the sphere."""
    if checks.draw_from(dim, rng) < 2:
        raise BadInput(f"dim = {dim}: a target on the sphere needs dimension 2 or more")
    return axes(count, dim, rng)
