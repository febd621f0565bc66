"""Where the error of ridge regression lies, degree by degree: sums, limits, and regressions measured exactly."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.kernels import ntk
from simlab.sphere.legendre import legendre_sum
from simlab.sphere.zonal import axes, cosines, mode
from simlab.theory.degree_residual import degree_residual
from simlab.theory.learning_curve import learning_curve


def test_degrees_add_up_to_the_error_of_the_curve() -> None:
    """But for what is found beyond the degrees: the truncated part of γ."""
    spectrum, power = ntk(3).spectrum(6, 200), np.array([0.1, 1.0, 0.5, 0.2])
    for noise in (0.0, 0.5):
        curve = learning_curve(spectrum, power, np.array([5.0, 60.0, 300.0]), 0.01, noise)
        parts = degree_residual(spectrum, power, curve, noise)
        assert parts.shape == (3, 201)
        assert parts.sum(axis=1) == pytest.approx(curve.error, rel=1e-3)


def test_no_samples_leave_everything() -> None:
    spectrum = ntk(3).spectrum(6, 20)
    curve = learning_curve(spectrum, [0.5, 1.0], 0.0)
    assert degree_residual(spectrum, [0.5, 1.0], curve)[:3] == pytest.approx([0.5, 1.0, 0.0])


def test_regressions_leave_that_much_of_every_degree() -> None:
    """d = 15, n = 100, averaged over all targets of these powers exactly and over 12 draws of the inputs.

    A random harmonic of degree k has the covariance P_k(x·y). With A = (K + λ)^{-1}, C = Σ p_j P_j over the inputs, the
    fit's part has E f_k² = μ_k² N_k tr(A C A P_k) and E f_k f*_k = μ_k p_k tr(A P_k).
    """
    d, n, ridge, p = 15, 100, 0.1, np.array([0.0, 1.0, 1.0, 1.0])
    kernel, rng = ntk(3), np.random.default_rng(0)
    spectrum = kernel.spectrum(d, 40)
    found = []
    for _ in range(12):
        X = axes(n, d, rng)
        U = cosines(X, X)
        A = np.linalg.inv(kernel.gram(X, threads=1) + ridge * np.eye(n))
        ACA = A @ legendre_sum(d, p, U) @ A
        row = []
        for k in (1, 2, 3):
            P, mu, count = mode(d, k, U), float(spectrum.eigenvalues[k]), float(spectrum.multiplicities[k])
            row.append(mu**2 * count * np.sum(ACA * P) - 2 * mu * p[k] * np.sum(A * P) + p[k])
        found.append(row)
    predicted = degree_residual(spectrum, p, learning_curve(spectrum, p, n, ridge))[1:4]
    spread = np.std(found, axis=0, ddof=1) / np.sqrt(12)
    assert np.all(np.abs(np.mean(found, axis=0) - predicted) < 4 * spread + 0.01 * predicted)
