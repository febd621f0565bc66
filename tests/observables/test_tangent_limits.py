"""The limits of tangent kernels against random nets, within Monte Carlo error; what has no limit is refused.

Over independent nets the mean of J Jᵀ lies within 5 standard errors of the limit at every entry, where a limit that is
12 % larger does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import networks
from simlab.sphere.legendre import legendre
from simlab.sphere.multiplicity import multiplicity

SIGMAS = 5.0
d = 4
X = np.random.default_rng(3).standard_normal((5, d))


def grams(network: Any, X: NDArray[np.float64], draws: int) -> NDArray[np.float64]:
    """(draws, n, n)"""
    rng = np.random.default_rng(8)
    return np.array([network.tangent_gram(network.initialise(d, rng), X) for _ in range(draws)])


def scores(samples: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    error = samples.std(axis=0, ddof=1) / len(samples) ** 0.5
    found: NDArray[np.float64] = np.abs(samples.mean(axis=0) - expected) / (error + 1e-12)
    return found


@pytest.mark.parametrize(
    ("kind", "fields", "draws"),
    [
        ("two_layer", {"width": 64}, 400),
        ("two_layer", {"width": 64, "doubled": True, "scaling": "mean_field", "init_std": 0.6}, 400),
        ("two_layer", {"width": 64, "bias": True, "init_std": 1.3, "activation": "erf", "scaling": "none"}, 400),
        ("two_layer", {"width": 64, "bias": True, "init_std": 0.8, "activation": "gelu", "trained": "first"}, 400),
        ("two_layer", {"width": 64, "bias": True, "activation": "step", "trained": "second"}, 400),
        ("two_layer", {"width": 64, "init_std": 1.5, "inner_std": "unit", "activation": "erf"}, 400),
        ("two_layer", {"width": 64, "init_std": 0.5, "inner_std": 1.4, "trained": "first"}, 400),
        ("random_features", {"width": 64, "activation": "erf", "weight_std": 1.5, "bias_std": 0.5}, 400),
        ("neural_tangent", {"width": 64, "weight_std": 1.3, "law": "sphere", "parts": "first"}, 400),
        ("neural_tangent", {"width": 64, "activation": "gelu", "weight_std": 1.3, "bias_std": 0.4}, 400),
        ("linearised", {"network": {"kind": "two_layer", "width": 64, "bias": True}}, 400),
        # The mean of a deeper net differs from its limit by ~ 1/m: few and wide ones.
        ("mlp", {"width": 400, "depth": 3, "weight_std": 1.4}, 40),
        ("mlp", {"width": 400, "depth": 4, "activation": "erf", "weight_std": 1.5, "bias_std": 0.5}, 40),
        ("mlp", {"width": 400, "depth": 3, "weight_std": 1.4, "bias_std": 0.2, "parametrisation": "mean_field"}, 40),
    ],
)
def test_random_nets_tend_to_the_limit(kind: str, fields: dict[str, Any], draws: int) -> None:
    network = networks.get(kind, **fields)
    samples, limit = grams(network, X, draws), network.limit_kernel(d).gram(X)
    assert scores(samples, limit).max() < SIGMAS
    assert scores(samples, 1.12 * limit).max() > SIGMAS


@pytest.mark.parametrize("fields", [{}, {"activation": "erf", "bias": True, "trained": "first"}])
def test_the_error_falls_as_the_root_of_the_width(fields: dict[str, Any]) -> None:
    """Exactly so in the mean square for two layers: from width 16 to 256 by 4, within the error of 400 draws."""
    errors = []
    for width in (16, 256):
        network = networks.get("two_layer", width=width, **fields)
        errors.append(np.sqrt(np.mean((grams(network, X, 400) - network.limit_kernel(d).gram(X)) ** 2)))
    assert np.log(errors[0] / errors[1]) / np.log(16) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(
    ("kind", "fields", "radius"),
    [
        ("two_layer", {"width": 9, "bias": True, "init_std": 0.7, "activation": "erf"}, 1.7),
        ("two_layer", {"width": 9, "bias": True, "trained": "first"}, 1.0),
        ("two_layer", {"width": 9, "trained": "second", "scaling": "mean_field"}, 3.0),
        ("mlp", {"width": 9, "depth": 3}, 1.0),
        ("mlp", {"width": 9, "depth": 3, "activation": "erf", "weight_std": 1.2, "bias_std": 0.3}, d**0.5),
    ],
)
def test_the_spectrum_sums_to_the_gram(kind: str, fields: dict[str, Any], radius: float) -> None:
    """κ(u) = Σ μ_k N_k P_k(u) of degrees to 40 is the Gram matrix on the sphere of this radius, up to the tail."""
    network = networks.get(kind, **fields)
    Y = radius * X / np.linalg.norm(X, axis=1, keepdims=True)
    mu = network.limit_kernel(d, radius).eigenvalues(d, 40)
    terms = [
        mu[k] * multiplicity(d, k) * legendre(d, 40, (Y @ Y.T / radius**2).clip(-1, 1).ravel())[k] for k in range(41)
    ]
    K = network.limit_kernel(d).gram(Y)
    off = ~np.eye(len(Y), dtype=bool)
    assert np.allclose(np.sum(terms, axis=0).reshape(K.shape)[off], K[off], rtol=0, atol=2e-3 * K.max())


@pytest.mark.parametrize(
    ("kind", "fields", "radius", "says"),
    [
        ("mlp", {"width": 4, "depth": 3, "bottleneck": 2}, None, "network.bottleneck = 2: a narrow layer"),
        ("mlp", {"width": 4, "depth": 3, "parametrisation": "standard"}, None, "network.parametrisation = 'standard'"),
        ("mlp", {"width": 4, "depth": 3}, 2.0, "data.radius = 2.0: the limit's spectrum is known for 1"),
        ("fourier_features", {"width": 4}, None, "network.kind = 'fourier_features': no known limit"),
        ("random_features", {"width": 4, "law": "sphere", "activation": "erf"}, None, "network.law = 'sphere'"),
    ],
)
def test_what_has_no_limit_is_refused(kind: str, fields: dict[str, Any], radius: float | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        networks.get(kind, **fields).limit_kernel(d, radius)
