"""What experiments on the sphere share: whether a kernel on given inputs is that of its spectrum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simlab.kernels.kernel import Kernel

Floats = NDArray[np.float64]
PROBES = 8


def is_profile(kernel: Kernel, X: Floats) -> bool:
    """Whether K(x_i, x_j) = κ(u_ij) on inputs of one norm: `spectrum` and the theory are about κ.

    The normalised family and the kernels of a distance mean the unit sphere, the general recursion radius √d. Laplace's
    kernel has the right diagonal on every sphere, so that pairs are looked at.
    """
    some = X[:PROBES]
    norms = np.sqrt(np.einsum("ij,ij->i", some, some))
    if not np.all(norms > 0) or np.ptp(norms) > 1e-9 * norms[0]:
        return False
    unit = some / norms[:, np.newaxis]
    u = np.clip(unit @ unit.T, -1.0, 1.0)
    np.fill_diagonal(u, 1.0)
    return bool(np.allclose(kernel.gram(some, threads=1), kernel.at_cosines(u), rtol=1e-6, atol=1e-9))
