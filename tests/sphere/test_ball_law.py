"""The law φ² against sums of Arb's Bessel functions, mpmath's integrals and its own samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

from simlab.core.errors import BadInput
from simlab.sphere import _ball_sampler
from simlab.sphere.ball_law import BallLaw


def bessel(dim: int, s: float, k: int = 0) -> arb:
    """J_{d/2+k}(s), with the bits that its power series loses to cancellation."""
    with ctx.workprec(200 + (3 * int(s) if s < 1e4 else 0)):
        return arb(s).bessel_j(arb(dim) / 2 + k)


def exact_cdf(dim: int, s: float) -> arb:
    """J_ν² + 2 Σ J_{ν+k}²"""
    with ctx.workprec(200):
        terms = int(max(0.0, s - dim / 2) + 10 * s ** (1 / 3)) + 30
        return sum((2 * bessel(dim, s, k) ** 2 for k in range(1, terms)), bessel(dim, s) ** 2)


POINTS = {2: (0.5, 8.0, 60.0), 3: (0.01, 24.9, 25.1), 5: (1.0, 30.0), 10: (4.0, 40.0), 50: (15.0, 49.0, 51.0),
          100: (30.0, 102.0), 1000: (400.0, 505.0)}  # fmt: skip


@pytest.mark.parametrize("dim", POINTS)
def test_cdf_and_survival_are_the_sum_of_squares(dim: int) -> None:
    """To a relative error in either tail, on both sides of s = max(d, 25) where the formula changes."""
    law = BallLaw.natural(dim)
    for s in POINTS[dim]:
        r = s / law.wave
        expected = exact_cdf(dim, law.wave * r)
        assert abs(float(arb(float(law.cdf(r))) / expected - 1)) < 3e-13
        assert abs(float(arb(float(law.sf(r))) / (1 - expected) - 1)) < 3e-13


@pytest.mark.parametrize("dim", [2, 3, 50, 1000])
def test_survival_far_out(dim: int) -> None:
    """At 10⁶ medians: d/(πs)(1 − sin(2ψ)/(2s)), and its decrease is the integral of the density."""
    law = BallLaw.natural(dim)
    r = 1e6 * law.median
    s = law.wave * r
    psi = s - math.pi * (dim + 1) / 4 + (dim**2 - 1) / (8 * s)
    assert abs(float(law.sf(r)) * math.pi * s / dim - 1 + math.sin(2 * psi) / (2 * s)) < dim**2 / s**2 + 1e-15
    nodes, weights = np.polynomial.legendre.leggauss(16)
    dropped = sum(
        w * dim * float(bessel(dim, s + 1 + z)) ** 2 / (s + 1 + z) for z, w in zip(nodes, weights, strict=True)
    )
    assert abs(float(law.sf(r) - law.sf((s + 2) / law.wave)) / dropped - 1) < 1e-6  # a millionth of the survival itself
    far = np.array([1e12, 1e15]) * law.median
    np.testing.assert_allclose(law.sf(far), dim / (math.pi * law.wave * far), rtol=1e-9)
    assert (law.density(far) >= 0).all()


@pytest.mark.parametrize("dim", [2, 3, 10, 101, 1000])
def test_density_phi_and_zeros(dim: int) -> None:
    """Density = φ² × the sphere's surface, slope of the CDF; φ(0) = 1; zeros are zeros and none is missed."""
    law = BallLaw.of_mass(dim, 0.3)
    r = law.quantile(np.linspace(0.02, 0.98, 25))
    natural, order = r / law.scale, dim / 2
    surface = 2 * arb.pi() ** order / arb(order).gamma()
    phi = [(law.ball_radius / arb(x)) ** order * bessel(dim, law.wave * law.scale * x) for x in natural]
    volume = [float(p**2 * surface * arb(x) ** (dim - 1)) / law.scale for p, x in zip(phi, natural, strict=True)]
    np.testing.assert_allclose(law.density(r), volume, rtol=1e-8, atol=1e-12)
    for got, exact in zip(law.phi(r), phi, strict=True):
        assert abs(got / exact - 1) < 1e-8 or abs(exact) < 1e-300
    h = 1e-4 / law.wave
    slope = (law.cdf(r + h) - law.cdf(r - h)) / (2 * h)
    np.testing.assert_allclose(slope, law.density(r), rtol=1e-6, atol=1e-7 * law.wave)
    small = 1e-3 * law.scale / law.ball_radius
    assert law.phi(0.0) == 1.0
    assert law.density(0.0) == 0.0
    assert abs(float(law.phi(small)) - (1 - (law.wave * small) ** 2 / (2 * dim + 4))) < 1e-9


@pytest.mark.parametrize("dim", [2, 3, 10, 50, 1000])
def test_quantiles_invert_the_cdf(dim: int) -> None:
    law = BallLaw.natural(dim)
    u = np.concatenate([10.0 ** -np.arange(2, 300, 37), np.linspace(0.005, 0.995, 200), 1 - 10.0 ** -np.arange(3, 16)])
    r = law.quantile(np.sort(u))
    np.testing.assert_allclose(law.cdf(r), np.sort(u), rtol=1e-12)
    np.testing.assert_allclose(law.sf(r[-12:]), 1 - np.sort(u)[-12:], rtol=1e-12)
    assert (np.diff(r) > 0).all()
    np.testing.assert_allclose(law.stratified(64), law.quantile((np.arange(64) + 0.5) / 64))


def test_medians_and_masses_of_the_source() -> None:
    for dim, median, mass in ((3, 0.620, 0.782), (10, 1.222, 0.234), (20, 1.773, 2.2e-3), (100, 4.50, 2e-41)):
        law = BallLaw.natural(dim)
        assert law.median == pytest.approx(median, rel=1e-3)
        assert float(law.cdf(1.0)) == pytest.approx(mass, rel=0.1 if dim == 100 else 2e-2)


@pytest.mark.parametrize(
    ("dim", "mass"),
    [(2, 1e-300), (2, 0.4), (2, 1 - 1e-15), (1000, 1e-300), (1000, 0.4), (1000, 1 - 1e-15), (5000, 0.4)],
)
def test_the_unit_ball_has_the_mass_asked_for(dim: int, mass: float) -> None:
    law = BallLaw.of_mass(dim, mass)
    assert float(law.cdf(1.0)) == pytest.approx(mass, rel=1e-11)
    assert float(law.sf(1.0)) == pytest.approx(1 - mass, rel=1e-11)


@pytest.mark.parametrize("dim", [3, 10, 50, 1000])
def test_samples_have_the_law(dim: int) -> None:
    """Kolmogorov–Smirnov p-values over 20 seeds are uniform; so are they of the two parts, below and above s = ν."""
    law = BallLaw.of_mass(dim, 0.4)
    drawn = [law.cdf(law.radii(4000, np.random.default_rng(seed))) for seed in range(20)]
    assert stats.kstest([stats.kstest(u, "uniform").pvalue for u in drawn], "uniform").pvalue > 0.01
    pooled = np.concatenate(drawn)
    split = _ball_sampler.tables(dim / 2).mass_below
    assert stats.binomtest(int((pooled < split).sum()), pooled.size, split).pvalue > 1e-3
    assert stats.kstest(pooled[pooled < split] / split, "uniform").pvalue > 1e-3
    assert stats.kstest(pooled, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("order", [1.0, 1.5, 25.0, 500.0])
def test_the_tables_give_the_acceptance(order: float) -> None:
    """N cos²ψ = (π/2) √(s²−ν²) J_ν(s)², against Arb, from the turning point to s = 10⁵ν."""
    t = _ball_sampler.tables(order)
    angle = np.concatenate([np.linspace(0.01, 1.56, 40), [1e-5, 1e-3]])
    N, delta = (_ball_sampler.at_panels(table, angle / (math.pi / 2) * len(table)) for table in (t.modulus, t.phase))
    with ctx.workprec(3000):
        for a, n, rest in zip(angle.tolist(), N.tolist(), delta.tolist(), strict=True):
            s = order / arb(a).sin()
            psi = order * (arb(a).cot() - arb.pi() / 2 + a) - arb.pi() / 4 + rest
            expected = arb.pi() / 2 * (s**2 - order**2).sqrt() * s.bessel_j(arb(order)) ** 2
            assert abs(float(n * psi.cos() ** 2 - expected)) < 2e-12


def test_far_radii_are_finite_and_as_frequent_as_they_should_be() -> None:
    """P(s > 10⁵) ≈ d/(π 10⁵) at d = 1000: Poisson; and the least uniform number gives a finite radius."""
    r = BallLaw.natural(1000).radii(400_000, np.random.default_rng(3)) * BallLaw.natural(1000).wave
    expected = 400_000 * 1000 / (math.pi * 1e5)
    assert abs((r > 1e5).sum() - expected) < 4 * math.sqrt(expected)
    assert 500.0 / math.sin(0.5 * math.pi * 2.0**-54) < 1e20
    assert np.isfinite(r).all()


def test_radii_that_are_no_numbers_and_negative_ones() -> None:
    law = BallLaw.natural(5)
    r = np.array([-1.0, 0.0, np.inf, np.nan])
    assert np.array_equal(law.cdf(r), [0.0, 0.0, 1.0, np.nan], equal_nan=True)
    assert np.array_equal(law.sf(r), [1.0, 1.0, 0.0, np.nan], equal_nan=True)
    assert np.array_equal(law.density(r), [0.0, 0.0, 0.0, np.nan], equal_nan=True)


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="dim = 1"):
        BallLaw(1)
    with pytest.raises(BadInput, match="u must lie in"):
        BallLaw(3).quantile([0.5, 1.0])
