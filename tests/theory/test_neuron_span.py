"""Inner products of neurons and tangent features against Monte Carlo, closed forms, and least squares on a sample."""

from __future__ import annotations

import numpy as np
import pytest

from simlab import activations
from simlab.core.errors import BadInput
from simlab.kernels import nngp
from simlab.sphere.zonal import axes, zonal
from simlab.theory.neuron_span import Neurons

DIM, COUNT, POINTS = 4, 3, 100_000


def features(kind: str, bias: float, W: np.ndarray, X: np.ndarray, neurons: Neurons) -> np.ndarray:
    phi = activations.get(kind)
    Z = X @ W.T + bias
    parts = [phi(Z)] if neurons.outer else []
    if neurons.tangent:
        parts.append((phi.derivative(Z)[:, :, np.newaxis] * X[:, np.newaxis]).reshape(len(X), -1))
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize(
    ("kind", "bias", "tangent"), [("relu", -0.5, True), ("tanh", 0.3, True), ("relu", 0.0, True), ("step", 0.2, False)]
)
def test_inner_products_projections_and_best_fit_against_a_sample(kind: str, bias: float, tangent: bool) -> None:
    """Every entry within 6 standard errors; the least mean square error within 5 of that of the sample's fit."""
    rng = np.random.default_rng(5)
    W, V = axes(COUNT, DIM, rng), axes(1, DIM, rng)
    neurons = Neurons.of(activations.get(kind), bias, W, 80, tangent)
    X = axes(POINTS, DIM, rng)
    Phi = features(kind, bias, W, np.sqrt(DIM) * X, neurons)
    G = neurons.gram()
    assert G.shape == (Phi.shape[1],) * 2
    spread = np.sqrt((Phi**2).T @ Phi**2 / POINTS - (Phi.T @ Phi / POINTS) ** 2) / np.sqrt(POINTS)
    assert np.all(np.abs(Phi.T @ Phi / POINTS - G) < 6 * spread + 2e-3), "2e-3: the series at these few dimensions"
    y, b = np.zeros(POINTS), np.zeros(len(G))
    for degree in (1, 2, 3):
        Z = zonal(degree, V, X)[:, 0]
        projection = neurons.projections(degree, V)[:, 0]
        spread = (Phi * Z[:, np.newaxis]).std(axis=0) / np.sqrt(POINTS)
        assert np.all(np.abs(Phi.T @ Z / POINTS - projection) < 6 * spread + 1e-12)
        y, b = y + Z, b + projection
    residual = y - Phi @ np.linalg.lstsq(Phi, y, rcond=None)[0]
    least = 3.0 - b @ np.linalg.solve(G, b)
    assert abs(least - np.mean(residual**2)) < 5 * np.std(residual**2) / np.sqrt(POINTS) + 2e-3


@pytest.mark.parametrize("tangent", [False, True])
def test_powers_of_all_degrees_add_up_to_the_mean_square(tangent: bool) -> None:
    rng = np.random.default_rng(2)
    neurons = Neurons.of(activations.get("tanh"), 0.3, axes(5, 6, rng), 60, tangent)
    G = neurons.gram()
    a = rng.standard_normal((len(G), 2))
    total = sum(neurons.power(k, a) for k in range(61))
    assert total == pytest.approx(np.einsum("im,ij,jm->m", a, G, a), rel=1e-9)


def test_relu_without_bias_is_the_arc_cosine_kernel() -> None:
    """E relu relu = κ1(u)/2 exactly on the sphere of radius √d."""
    W = axes(6, 12, np.random.default_rng(3))
    G = Neurons.of(activations.get("relu"), 0.0, W, 60, False).gram()
    assert pytest.approx(nngp(2).gram(W) / 2, rel=1e-6) == G


def test_a_jump_has_no_tangent_features() -> None:
    with pytest.raises(BadInput, match="'step': it jumps"):
        Neurons.of(activations.get("step"), 0.0, np.eye(3), 5, True)
