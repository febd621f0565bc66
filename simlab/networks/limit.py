"""The infinite-width tangent kernel of a network: what K = J Jᵀ tends to at the start. MATH §3, §6.

Each kind that knows its limit gives it as `Network.limit_kernel`: a combination of the kernels `nngp` and `ntk`. On the
sphere of radius r the limit is a function κ(u) of the cosine, and has a spectrum. Kernels mean κ on the unit sphere
(normalised family) or on that of radius √d: other radii have a spectrum only where the kind can rescale itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simlab.kernels.kernel import Kernel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Limit:
    """Σ a_i K_i(x, y) + constant.

    terms: pairs (a_i, K_i).
    constant: added to every entry.
    """

    terms: tuple[tuple[float, Kernel], ...]
    constant: float = 0.0

    def gram(self, X: Floats, Y: Floats | None = None) -> Floats:
        """(n, n), or (n, n') with Y"""
        K: Floats = np.sum([a * kernel.gram(X, Y, threads=1) for a, kernel in self.terms], axis=0) + self.constant
        return K

    def eigenvalues(self, dim: int, max_degree: int) -> Floats:
        """μ_0 … μ_K on the sphere that it was made for, K = max_degree."""
        mu: Floats = np.sum([a * kernel.spectrum(dim, max_degree).eigenvalues for a, kernel in self.terms], axis=0)
        mu[0] += self.constant
        return mu


def check_radius(radius: float | None, dim: int, weight_std: float | None) -> None:
    """Raise ValueError unless the kernels with this `weight_std` have their spectrum on the sphere of this radius."""
    meant = 1.0 if weight_std is None else dim**0.5
    if radius is not None and not np.isclose(radius, meant, rtol=1e-9):
        raise ValueError(f"data.radius = {radius}: the limit's spectrum is known for {meant:.10g}")
