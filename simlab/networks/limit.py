"""The infinite-width tangent kernel of a network: what K = J Jᵀ tends to at the start. MATH §3, §6.

`Network.limit_kernel` gives it as a sum of the kernels `nngp` and `ntk`. On a sphere it is a function κ(u) of the
cosine and has a spectrum. κ of these kernels means the unit sphere (normalised family) or the sphere of radius √d
(general recursion). Other radii have a spectrum only where the kind can put the radius into its weights' scale.
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
        """K : (n, n), or (n, n') between the rows of X and Y"""
        K: Floats = np.sum([a * kernel.gram(X, Y, threads=1) for a, kernel in self.terms], axis=0) + self.constant
        return K

    def eigenvalues(self, dim: int, max_degree: int) -> Floats:
        """μ_0 … μ_{max_degree} : (max_degree + 1,), on the sphere whose radius was given to `limit_kernel`."""
        mu: Floats = np.sum([a * kernel.spectrum(dim, max_degree).eigenvalues for a, kernel in self.terms], axis=0)
        mu[0] += self.constant
        return mu


def check_radius(radius: float | None, dim: int, weight_std: float | None) -> None:
    """Raise ValueError unless κ of the kernels with this `weight_std` belongs to the sphere of this radius."""
    meant = 1.0 if weight_std is None else dim**0.5
    if radius is not None and not np.isclose(radius, meant, rtol=1e-9):
        raise ValueError(f"data.radius = {radius}: the limit's spectrum is known for {meant:.10g}")
