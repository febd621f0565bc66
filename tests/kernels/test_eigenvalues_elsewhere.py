"""The other ways to eigenvalues: the series of exp(−c(1−u)^γ), the Boolean cube, float64, and the choice among them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import tests.support.kernel_profiles as profiles
from simlab.core.errors import BadInput, SimlabError
from simlab.kernels.spectra.cube import cube_eigenvalues, float64_cube_eigenvalues
from simlab.kernels.spectra.eigenvalues import Zonal, eigenvalues
from simlab.kernels.spectra.float64 import float64_eigenvalues
from simlab.kernels.spectra.sample import at_end
from simlab.kernels.spectra.series import power_exponential_eigenvalues
from simlab.kernels.spectra.sphere import sphere_eigenvalues


def relative(values: list[arb], expected: list[arb]) -> float:
    with ctx.workprec(4000):
        return max(float(abs(a / b - 1)) for a, b in zip(values, expected, strict=True))


# The series


@pytest.mark.parametrize(("c", "gamma", "dim"), [
    (1.0, 0.5, 10), (20.0, 0.5, 5), (1.0, 0.5, 2), (1.0, 0.5, 500), (3.0, 1.0, 3), (0.01, 1.0, 10),
])  # fmt: skip
def test_series_against_quadrature(c: float, gamma: float, dim: int) -> None:
    """√(1−u) = √2 sin(θ/2) is analytic in θ: a quadrature finds Laplace's and Gauss's eigenvalues as well."""
    series = power_exponential_eigenvalues(c, gamma, dim, 60)
    quadrature = sphere_eigenvalues(profiles.power_exponential(c, gamma), dim, 60)
    assert relative(series.values, quadrature.values) < 1e-17
    assert series.errors.max() < 1e-17
    assert series.method == "series"


def test_series_with_an_exponent_of_no_kind() -> None:
    """γ = 0.3: against the sphere's own quadrature with the grading of θ^{0.6 = 3/5}."""
    series = power_exponential_eigenvalues(2.0, 0.3, 4, 12, rtol=1e-12)
    graded = sphere_eigenvalues(lambda us: [(-2 * (1 - u) ** (arb(3) / 10)).exp() for u in us], 4, 12, grading=5)
    np.testing.assert_allclose(series.float64(), graded.float64(), rtol=1e-15)  # 0.3 is not 3/10


def test_gaussian_is_a_bessel_function() -> None:
    """exp(c u) in dimension d: μ_k = Γ(d/2) (2/c)^{d/2−1} I_{k+d/2−1}(c)."""
    got = power_exponential_eigenvalues(3.0, 1.0, 7, 200)
    with ctx.workprec(2500):
        half = arb(5) / 2
        exact = [
            (arb(7) / 2).gamma() * (arb(2) / 3) ** half * arb(3).bessel_i(k + half) / arb(3).exp() for k in range(201)
        ]
    assert relative(got.values, exact) < 1e-17
    assert got.log10()[200] == pytest.approx(float(exact[200].log() / arb(10).log()), rel=1e-15)


def test_series_of_the_constant_kernel_and_its_refusals() -> None:
    assert [float(v) for v in power_exponential_eigenvalues(0.0, 0.5, 3, 2).values] == [1.0, 0.0, 0.0]
    with pytest.raises(SimlabError, match="use a smaller c"):
        power_exponential_eigenvalues(1e5, 0.5, 3, 2)
    for c, gamma, dim, top in ((1.0, 0.0, 3, 2), (math.inf, 0.5, 3, 2), (1.0, 0.5, 1, 2), (1.0, 0.5, 3, -1)):
        with pytest.raises(BadInput):
            power_exponential_eigenvalues(c, gamma, dim, top)


# The cube


@pytest.mark.parametrize(("arb_profile", "profile64"), [
    (profiles.relu(3, True), profiles.relu64(3, True)),
    (profiles.relu(2, False), profiles.relu64(2, False)),
    (profiles.step(3), profiles.step64(3)),
])  # fmt: skip
def test_cube_against_the_whole_gram_matrix(arb_profile, profile64) -> None:
    """The 2^8 eigenvalues of K/2^8 over all corners, each λ_k being there C(8, k) times."""
    d = 8
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
    u = X @ X.T / d
    brute = np.linalg.eigvalsh(profile64(1 - u, 1 + u)) / 2**d
    got = cube_eigenvalues(arb_profile, d, d)
    counts = [math.comb(d, k) for k in range(d + 1)]
    np.testing.assert_allclose(brute, np.sort(np.repeat(got.float64(), counts)), atol=1e-14)
    assert got.errors.max() < 1e-17
    rough = float64_cube_eigenvalues(profile64, d, d)
    lost = np.isinf(rough.errors)
    assert list(lost) == [v == 0 for v in got.values]
    assert np.all(np.abs(rough.float64() - got.float64())[~lost] <= (rough.errors * np.abs(rough.float64()))[~lost])


def test_cube_of_a_polynomial_is_exact() -> None:
    """κ = u³ = (Σ x_i y_i)³/d³: of degree 3 it has 6 C(d,3)/d³ over C(d,3), of degree 1 the rest of κ(1) = 1."""
    d = 9
    got = cube_eigenvalues(lambda us: [u**3 for u in us], d, d)
    third = Fraction(6, d**3)
    first = (1 - math.comb(d, 3) * third) / d
    np.testing.assert_allclose(got.float64(), [0, float(first), 0, float(third), 0, 0, 0, 0, 0, 0], rtol=1e-15, atol=0)


def test_large_cube_sums_to_the_trace() -> None:
    got = cube_eigenvalues(profiles.relu(3, True), 500, 500)
    with ctx.workprec(3000):
        total = sum((v * math.comb(500, k) for k, v in enumerate(got.values)), arb(0))
        assert abs(float(total - 3)) < 1e-17
    assert got.log10().min() < -150


def test_cube_follows_a_profile_to_its_ends() -> None:
    """A recursion in balls that has no value at u = 1 itself has one next to it."""

    def bare(us: list[arb]) -> list[arb]:
        third = [u * (arb(1) / 3 * 3) for u in us]  # at u = 1 a ball around 1, without arccos
        return [1 - u.acos() / arb.pi() for u in third]

    assert not bare([arb(1)])[0].is_finite()
    assert abs(float(at_end(bare, 1, 60) - 1)) < 1e-59
    np.testing.assert_allclose(
        cube_eigenvalues(bare, 6, 6).float64(), cube_eigenvalues(profiles.step(2), 6, 6).float64(), rtol=1e-15
    )
    with pytest.raises(SimlabError, match="at u = 1"):
        at_end(lambda us: [(1 - u).log() for u in us], 1, 30)


def test_what_is_no_cube_is_refused() -> None:
    with pytest.raises(BadInput, match="run from 0 to 4"):
        cube_eigenvalues(profiles.relu(2, False), 4, 5)
    with pytest.raises(BadInput, match="dimension 1 or more"):
        cube_eigenvalues(profiles.relu(2, False), 0, 0)
    with pytest.raises(SimlabError, match="may be exactly 0"):
        cube_eigenvalues(lambda us: [u**36 for u in us], 80, 80)
    with pytest.raises(SimlabError, match="not a number at u = -1"):
        float64_cube_eigenvalues(lambda t, s: np.where(s > 0, s, np.nan), 4, 4)


# float64


@pytest.mark.parametrize(("exact", "quick", "dim", "top", "grading"), [
    (profiles.relu(3, False), profiles.relu64(3, False), 3, 200, 1),
    (profiles.relu(2, True), profiles.relu64(2, True), 2, 600, 1),
    (profiles.relu(2, True), profiles.relu64(2, True), 64, 60, 1),
    (profiles.step(3), profiles.step64(3), 3, 150, 2),
])  # fmt: skip
def test_float64_is_within_its_own_error(exact, quick, dim: int, top: int, grading: int) -> None:
    truth = sphere_eigenvalues(exact, dim, top, grading=grading).float64()
    got = float64_eigenvalues(quick, dim, top, grading)
    known = np.isfinite(got.errors)
    error = np.abs(got.float64() - truth)
    assert known[:5].sum() >= 3
    assert np.all(error[known] <= got.errors[known] * np.abs(got.float64()[known]))
    # Lost are only those that are small indeed.
    assert np.all(np.abs(truth[~known]) < 1e-12)


def test_float64_says_where_it_ends() -> None:
    got = float64_eigenvalues(profiles.relu64(3, True), 64, 80)
    assert np.isfinite(got.errors[:5]).all()
    assert np.isinf(got.errors[-20:]).all()
    with pytest.raises(SimlabError, match="finite"):
        float64_eigenvalues(lambda t, s: np.full(t.shape, np.nan), 3, 3)


def test_the_choice() -> None:
    rf, rf64 = profiles.relu(3, False), profiles.relu64(3, False)
    assert eigenvalues(Zonal(rf, rf64), 3, 20).method == "arb"
    loose = eigenvalues(Zonal(rf, rf64), 3, 20, rtol=1e-6)
    assert loose.method == "float64"
    assert loose.errors.max() <= 1e-6
    assert eigenvalues(Zonal(rf, rf64), 10, 200, rtol=1e-6).method == "arb"
    assert eigenvalues(Zonal(rf, None), 3, 20, rtol=1e-6).method == "arb"
    alone = eigenvalues(Zonal(None, rf64), 10, 200)
    assert alone.method == "float64"
    assert np.isinf(alone.errors[-1])
    assert eigenvalues(Zonal(rf, rf64), 6, 6, domain="cube").method == "arb"
    assert eigenvalues(Zonal(None, rf64), 6, 6, domain="cube").method == "float64"
    cubic = eigenvalues(Zonal(None, lambda t, s: ((s - t) / 2) ** 3, degree=3), 5, 6)
    assert cubic.errors[3] < 1e-10
    assert [v == 0 for v in cubic.values[3:]] == [False, True, True, True]
    assert not cubic.errors[4:].any()
    with pytest.raises(BadInput, match="allowed: sphere, cube"):
        eigenvalues(Zonal(rf, rf64), 3, 20, domain="torus")
    with pytest.raises(BadInput, match="in Arb or in float64"):
        eigenvalues(Zonal(None, None), 3, 20)
