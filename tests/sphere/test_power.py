"""Power by degree against Gegenbauer modes, closed forms of caps and neurons, and Parseval's identity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betainc, gamma

from simlab.core.errors import BadInput
from simlab.kernels import nngp
from simlab.sphere.legendre import legendre, legendre_sum
from simlab.sphere.multiplicity import multiplicity
from simlab.sphere.power import angle_quadrature, degree_power, zonal_coefficients, zonal_power


def points(n: int, dim: int, seed: int) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("dim", [2, 3, 7])
def test_sum_is_the_sum_of_the_polynomials(dim: int) -> None:
    u, c = np.linspace(-1, 1, 12).reshape(3, 4), np.random.default_rng(0).standard_normal(9)
    np.testing.assert_allclose(legendre_sum(dim, c, u), np.tensordot(c, legendre(dim, 8, u), 1), atol=1e-13)
    np.testing.assert_array_equal(legendre_sum(dim, [2.5], u), np.full((3, 4), 2.5))


@pytest.mark.parametrize(("dim", "degree"), [(2, 5), (3, 4), (10, 3), (500, 2)])
def test_a_gegenbauer_mode_has_its_power_in_one_degree(dim: int, degree: int) -> None:
    """E P_ℓ² = 1/N(d, ℓ)."""
    p = zonal_power(lambda u: legendre(dim, degree, u)[degree], dim, 6)
    expected = np.zeros(7)
    expected[degree] = 1 / multiplicity(dim, degree)
    np.testing.assert_allclose(p * multiplicity(dim, degree), expected * multiplicity(dim, degree), atol=1e-12)


@pytest.mark.parametrize(("dim", "c"), [(3, 0.25), (3, -0.5), (8, 0.1)])
def test_caps(dim: int, c: float) -> None:
    """d = 3: E 1{u>c}P_ℓ = (P_{ℓ−1}(c) − P_{ℓ+1}(c))/(2(2ℓ+1)); d = 8: the first two, by hand."""
    got = zonal_coefficients(lambda u: (u > c).astype(float), dim, 60, kinks=[c])
    if dim == 3:
        P = legendre(3, 61, c)
        expected = [(1 - c) / 2] + [(P[k - 1] - P[k + 1]) / (2 * (2 * k + 1)) for k in range(1, 61)]
        np.testing.assert_allclose(got, expected, atol=1e-15)
    share = betainc((dim - 1) / 2, 0.5, 1 - c * c) / 2
    front = gamma(dim / 2) / (math.sqrt(math.pi) * gamma((dim - 1) / 2))
    assert got[0] == pytest.approx(share if c > 0 else 1 - share, rel=1e-13)
    assert got[1] == pytest.approx(front * (1 - c * c) ** ((dim - 1) / 2) / (dim - 1), rel=1e-13)


@pytest.mark.parametrize("dim", [3, 10, 64])
def test_a_relu_neuron_is_the_random_feature_kernel(dim: int) -> None:
    """E_w σ(w·x)σ(w·y) = κ1(u)/2d over unit w, so N (E σP_ℓ)² = N μ_ℓ/2d with μ of the depth-2 kernel, by Arb."""
    p = zonal_power(lambda u: np.maximum(u, 0.0), dim, 12, kinks=[0.0])
    spectrum = nngp(2).spectrum(dim, 12)
    np.testing.assert_allclose(p, spectrum.weights() / (2 * dim), rtol=1e-11, atol=1e-26)
    assert p[3] < 1e-26


def test_the_sum_over_degrees_is_the_mean_square() -> None:
    u, law = angle_quadrature(4, 200, [0.3])
    assert law.sum() == pytest.approx(1.0, rel=1e-14)
    g = np.where(u > 0.3, (u - 0.3) * np.exp(u), 0.0)
    p = zonal_power(lambda v: np.where(v > 0.3, (v - 0.3) * np.exp(v), 0.0), 4, 200, [0.3])
    assert p.sum() == pytest.approx(law @ g**2, rel=1e-5)
    assert p.sum() < law @ g**2


@pytest.mark.parametrize("two_samples", [False, True])
@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_estimates_over_pairs(two_samples: bool, radius: float) -> None:
    """2 + x₁ + x₂x₃ on the sphere of radius r in R⁵: powers 4, r²/5, r⁴/35 and none elsewhere."""

    def f(X: np.ndarray) -> np.ndarray:
        return 2.0 + X[:, 0] + X[:, 1] * X[:, 2]

    X = radius * points(3000, 5, 11)
    got = degree_power(f, 5, 4, X, radius * points(2000, 5, 2) if two_samples else None)
    expected = np.array([4.0, radius**2 / 5, radius**4 / 35, 0.0, 0.0])
    assert (abs(got.power - expected) < 4 * got.errors).all()
    assert (got.errors < 0.04 * expected.sum()).all()
    assert abs(got.total - expected.sum()) < 4 * got.total_error


def test_standard_errors_are_those_of_repetitions() -> None:
    """Over 60 samples the spread of the estimates is the error that each states, within 40 %."""

    def f(X: np.ndarray) -> np.ndarray:
        return np.exp(2 * X[:, 0])

    found = [degree_power(f, 4, 3, points(200, 4, seed)) for seed in range(60)]
    spread = np.std([p.power for p in found], axis=0, ddof=1)
    stated = np.sqrt(np.mean([p.errors**2 for p in found], axis=0))
    assert (abs(np.log(stated / spread)) < math.log(1.4)).all()


def test_pairs_omit_the_diagonal() -> None:
    """White noise has no power in any one degree; with i = j each degree would have N(d, ℓ)/n more."""
    values = np.random.default_rng(3).standard_normal(400)
    got = degree_power(lambda X: values, 3, 6, points(400, 3, 4))
    assert (abs(got.power) < 4 * got.errors).all()
    by_hand = np.outer(values, values) * legendre(3, 6, np.clip(points(400, 3, 4) @ points(400, 3, 4).T, -1, 1))
    off = (by_hand.sum(axis=(1, 2)) - np.trace(by_hand, axis1=1, axis2=2)) / (400 * 399)
    np.testing.assert_allclose(got.power, off * (2 * np.arange(7) + 1), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: degree_power(lambda X: X[:, 0], 3, 2, np.ones((100, 4))), r"points of shape \(100, 4\)"),
        (lambda: degree_power(lambda X: X[:, 0], 3, 2, np.zeros((100, 3))), "point 0 has norm 0"),
        (lambda: degree_power(lambda X: X[:, 0] * np.nan, 3, 2, np.ones((100, 3))), "not finite"),
        (lambda: degree_power(lambda X: X, 3, 2, np.ones((100, 3))), r"gave shape \(100, 3\)"),
        (lambda: zonal_power(lambda u: u, 1, 2), "dimension 2 or more"),
        (lambda: legendre_sum(3, [], 0.5), "coefficients has shape"),
        (lambda: legendre_sum(1, [1.0], 0.5), "dimension 2 or more"),
    ],
)
def test_refusals(call: object, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        call()  # type: ignore[operator]
