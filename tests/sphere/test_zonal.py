"""Zonal harmonics: slopes against differences, mean squares and parts of a kernel expansion against Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.kernels import gaussian
from simlab.sphere.zonal import axes, mode, mode_curvature, mode_slope, unlearned, zonal, zonal_gradient


@pytest.mark.parametrize("dim", [3, 4, 9])
@pytest.mark.parametrize("degree", [0, 1, 2, 5])
def test_slopes_are_those_of_differences(dim: int, degree: int) -> None:
    u, h = np.linspace(-0.99, 0.99, 41), 1e-5
    for f, slope in ((mode, mode_slope), (mode_slope, mode_curvature)):
        difference = (f(dim, degree, u + h) - f(dim, degree, u - h)) / (2 * h)
        assert slope(dim, degree, u) == pytest.approx(difference, rel=1e-6, abs=1e-6)


def test_gradients_along_the_sphere() -> None:
    rng = np.random.default_rng(0)
    V, X, h = axes(3, 5, rng), axes(4, 5, rng), 1e-6
    for degree in (0, 1, 3):
        gradient = zonal_gradient(degree, V, X)
        assert np.abs(np.einsum("nmd,nd->nm", gradient, X)).max() < 1e-12, "along the sphere"
        step = np.cross(rng.standard_normal((4, 5))[:, :3], X[:, :3])  # tangent in the first three coordinates
        step = np.concatenate([step, np.zeros((4, 2))], axis=1)
        ahead, behind = (Y / np.linalg.norm(Y, axis=1, keepdims=True) for Y in (X + h * step, X - h * step))
        difference = (zonal(degree, V, ahead) - zonal(degree, V, behind)) / (2 * h)
        assert np.einsum("nmd,nd->nm", gradient, step) == pytest.approx(difference, abs=1e-7)


def test_what_an_expansion_leaves_of_its_targets_adds_up_to_its_mean_square_error() -> None:
    """Degrees above 12 of this kernel weigh less than 1e-12; 5 standard errors of 200 000 points."""
    dim, most = 4, 12
    rng = np.random.default_rng(1)
    kernel, X, points = gaussian(1.0), axes(10, dim, rng), axes(200_000, dim, rng)
    alpha = rng.standard_normal((10, 2))
    V = {k: axes(2, dim, rng) for k in range(most + 1)}
    mu = kernel.spectrum(dim, most).eigenvalues
    total = sum(unlearned(k, float(mu[k]), X, alpha, V[k]) for k in V)
    squares = (kernel.gram(points, X) @ alpha - sum(zonal(k, V[k], points) for k in V)) ** 2
    spread = squares.std(axis=0) / np.sqrt(len(points))
    assert np.all(np.abs(squares.mean(axis=0) - total) < 5 * spread)
    assert np.all(spread < 0.02 * total), "and that says something"
