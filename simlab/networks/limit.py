"""Which infinite-width tangent kernel matches a network: what its K̂ = J Jᵀ tends to at the start. MATH §3, §6.

*two_layer*, f = s Σ_j a_j φ(w_j·x̃), x̃ = (x, 1) with a bias and x without, all weights from N(0, τ²): over the start

    E K̂ = m s² [F(c) + τ² Ḟ(c) x̃·ỹ],   c = τ² x̃·ỹ,   the second layer's part and the first's.

The recursion with σ_w² = τ² d, σ_b² = τ² (0 without a bias) has K¹ = c, K² = σ_b² + σ_w² F(c), Θ² = K² + σ_w² Ḟ(c) c:
the parts are (K² − σ_b²)/σ_w² and (Θ² − K²)/σ_w². The mean is exact at every width, doubled or not; m s² is 1 for
"ntk", 1/m for "mean_field" (there K̂ itself tends to 0, and m K̂ to the limit), m for "none".

*mlp* in NTK parametrisation: Θ^L with its own σ_w, σ_b; in "mean_field" all of it but the last bias's σ_b² is
divided by m. *random_features*: K²; *neural_tangent*: Θ², or Θ² − K² of the
hidden layer alone; *linearised*: as the net inside.

On the sphere of radius r the limit is a function κ(u), and has a spectrum: of two_layer that of the same combination at
σ_w = τ r, as K¹ = τ² r² u there. Kernels mean κ on the unit sphere (normalised) or that of radius √d: other radii have
a spectrum here for two_layer alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import one_of
from simlab.core.params import Params, kind_of, module_of
from simlab.kernels import nngp, ntk
from simlab.kernels.kernel import Kernel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Limit:
    """Σ a_i K_i(x, y) + constant."""

    terms: tuple[tuple[float, Kernel], ...]
    constant: float = 0.0

    def gram(self, X: Floats, Y: Floats | None = None) -> Floats:
        """(n, n), or (n, m) with Y"""
        K: Floats = np.sum([a * kernel.gram(X, Y, threads=1) for a, kernel in self.terms], axis=0) + self.constant
        return K

    def eigenvalues(self, dim: int, max_degree: int) -> Floats:
        """μ_0 … μ_K on the sphere that it was made for."""
        mu: Floats = np.sum([a * kernel.spectrum(dim, max_degree).eigenvalues for a, kernel in self.terms], axis=0)
        mu[0] += self.constant
        return mu


def tangent_limit(network: Any, dim: int, radius: float | None = None) -> Limit:
    """The limit on inputs of R^dim or, where `radius` is given, as a function of the cosine on that sphere.

    ValueError, one line that names the key, where there is none.
    """
    kind = kind_of(network)
    if kind not in _LIMITS:
        raise ValueError(f"network.kind = {kind!r}: no known limit of its tangent kernel (known: {one_of(_LIMITS)})")
    return _LIMITS[kind](network, dim, radius)


def _two_layer(network: Any, dim: int, radius: float | None) -> Limit:
    inner = module_of(network).inner_std(network, dim)
    if network.bias and inner != network.init_std:
        raise ValueError(f"network.inner_std = {network.inner_std}: with biases the limit is known without it alone")
    sigma = inner * (dim**0.5 if radius is None else radius)
    bias = network.init_std if network.bias else 0.0
    first = (network.init_std / inner) ** 2  # the part of the first layer grows with a², Θ takes a to be like W
    scale = network.width * module_of(network).output_scale(network) ** 2 / sigma**2
    K = nngp(2, network.activation, sigma, bias)
    if network.trained == "second":
        return Limit(((scale, K),), -scale * bias**2)
    Theta = ntk(2, network.activation, sigma, bias)
    if network.trained == "first":
        return Limit(((first * scale, Theta), (-first * scale, K)))
    if first != 1.0:
        return Limit(((first * scale, Theta), ((1.0 - first) * scale, K)))
    return Limit(((scale, Theta),), -scale * bias**2)


def _mlp(network: Any, dim: int, radius: float | None) -> Limit:
    if network.bottleneck is not None:
        raise ValueError(f"network.bottleneck = {network.bottleneck}: a narrow layer has no infinite width")
    if network.parametrisation == "standard":
        raise ValueError(
            "network.parametrisation = 'standard': its tangent kernel grows with m (allowed: 'ntk', 'mean_field')"
        )
    _check_radius(network, dim, radius)
    scale = 1.0 if network.parametrisation == "ntk" else 1.0 / network.width
    Theta = ntk(network.depth, network.activation, network.weight_std, network.bias_std)
    return Limit(((scale, Theta),), (1.0 - scale) * network.bias_std**2)


def _features(network: Any, dim: int, radius: float | None) -> Limit:
    homogeneous = module_of(network.activation).homogeneity(network.activation) is not None and not network.bias_std
    if network.law == "sphere" and not homogeneous:
        raise ValueError("network.law = 'sphere': only for a homogeneous activation without bias is the limit known")
    _check_radius(network, dim, radius)
    arguments = (2, network.activation, network.weight_std, network.bias_std)
    if kind_of(network) == "random_features":
        return Limit(((1.0, nngp(*arguments)),))
    if network.parts == "first":
        return Limit(((1.0, ntk(*arguments)), (-1.0, nngp(*arguments))))
    return Limit(((1.0, ntk(*arguments)),))


def _linearised(network: Any, dim: int, radius: float | None) -> Limit:
    return tangent_limit(network.network, dim, radius)


def _check_radius(network: Any, dim: int, radius: float | None) -> None:
    """Θ^L is a function of u as kernels have it on one sphere alone."""
    meant = 1.0 if network.weight_std is None else dim**0.5
    if radius is not None and not np.isclose(radius, meant, rtol=1e-9):
        raise ValueError(f"data.radius = {radius}: the limit's spectrum is known for {meant:.10g}")


_LIMITS: dict[str, Callable[[Params, int, float | None], Limit]] = {
    "two_layer": _two_layer,
    "mlp": _mlp,
    "random_features": _features,
    "neural_tangent": _features,
    "linearised": _linearised,
}
