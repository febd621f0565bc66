"""The sphere room against scipy's Gegenbauer polynomials, counting, and orthogonality under the law of the angle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import eval_gegenbauer

from simlab.core.errors import BadInput
from simlab.sphere.hemisphere import density_constant, hemisphere
from simlab.sphere.legendre import legendre
from simlab.sphere.multiplicity import log10_multiplicity, log_multiplicity, multiplicity

U = np.linspace(-1.0, 1.0, 41)


@pytest.mark.parametrize("dim", [3, 4, 10, 64])
def test_legendre_is_gegenbauer_over_its_value_at_one(dim: int) -> None:
    P = legendre(dim, 30, U)
    rate = (dim - 2) / 2
    for k in (0, 1, 2, 7, 30):
        expected = eval_gegenbauer(k, rate, U) / eval_gegenbauer(k, rate, 1.0)
        np.testing.assert_allclose(P[k], expected, atol=1e-13)


def test_legendre_on_the_circle_is_a_cosine() -> None:
    theta = np.linspace(0.0, np.pi, 50)
    expected = np.cos(np.arange(41)[:, None] * theta)
    np.testing.assert_allclose(legendre(2, 40, np.cos(theta)), expected, atol=1e-12)


def test_legendre_keeps_the_shape_of_u() -> None:
    assert legendre(5, 3, 0.5).shape == (4,)
    assert legendre(5, 0, np.zeros((2, 3))).shape == (1, 2, 3)
    np.testing.assert_array_equal(legendre(7, 20, [1.0, -1.0]).T, [np.ones(21), (-1.0) ** np.arange(21)])


@pytest.mark.parametrize("dim", [2, 3, 4, 10, 500])
def test_multiplicity_counts_harmonic_polynomials(dim: int) -> None:
    """Homogeneous polynomials of degree k less those of degree k − 2, C(k+d−1, d−1) each."""
    for k in range(40):
        homogeneous = math.comb(k + dim - 1, dim - 1) - (math.comb(k + dim - 3, dim - 1) if k >= 2 else 0)
        assert multiplicity(dim, k) == homogeneous
        assert log_multiplicity(dim, k) == pytest.approx(math.log(homogeneous))
    assert [multiplicity(2, k) for k in range(4)] == [1, 2, 2, 2]
    assert [multiplicity(3, k) for k in range(4)] == [1, 3, 5, 7]


def test_multiplicity_beyond_float64_has_a_logarithm() -> None:
    assert multiplicity(500, 1000) > 10**308
    expected = math.lgamma(1498) - math.lgamma(499) - math.lgamma(1001) + math.log(2498)  # C(k+d−3, d−2)(2k+d−2)/k
    assert log10_multiplicity(500, 1000) * math.log(10) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("grading", [1, 2, 4])
@pytest.mark.parametrize("dim", [2, 3, 10])
def test_orthogonality_under_the_law_of_the_angle(dim: int, grading: int) -> None:
    """E P_j P_k = δ_jk/N(d, k)."""
    angles, weights = hemisphere(80, 128, grading)
    with ctx.workprec(128):
        c = density_constant(dim)
        law = np.array([float(c * w * a.sin() ** (dim - 2)) for a, w in zip(angles, weights, strict=True)])
        u = np.array([float(a.cos()) for a in angles])
    P, Q = legendre(dim, 12, u), legendre(dim, 12, -u)
    gram = (P * law) @ P.T + (Q * law) @ Q.T
    expected = np.diag([1 / multiplicity(dim, k) for k in range(13)])
    np.testing.assert_allclose(gram, expected, atol=1e-14)


def test_density_constant() -> None:
    """1/∫ sin^{d−2}: π, 2 and π/2 for d = 2, 3, 4."""
    with ctx.workprec(100):
        assert density_constant(2).overlaps(1 / arb.pi())
        assert density_constant(3).overlaps(arb(1) / 2)
        assert density_constant(4).overlaps(2 / arb.pi())


def test_nodes_of_odd_count_are_all_there() -> None:
    angles, weights = hemisphere(7, 128)
    assert len(angles) == len(weights) == 7
    with ctx.workprec(128):
        assert sum(weights, arb(0)).overlaps(arb.pi() / 2)


@pytest.mark.parametrize("call", [lambda: multiplicity(1, 2), lambda: multiplicity(3, -1), lambda: legendre(1, 2, 0.0)])
def test_what_is_no_sphere_is_refused(call: object) -> None:
    with pytest.raises(BadInput, match=r"dimension 2 or more|must be from 0"):
        call()  # type: ignore[operator]
