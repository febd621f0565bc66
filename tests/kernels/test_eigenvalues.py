"""Eigenvalues on the sphere against 20-digit references, the exact oracle of (1 − u)^ν, and structure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx

import tests.support.kernel_profiles as profiles
from simlab.core.errors import BadInput, SimlabError
from simlab.kernels.spectra.sphere import sphere_eigenvalues
from simlab.sphere.multiplicity import multiplicity

REFERENCE = Path(__file__).parents[2].parent / "shared/reference/spectra.json"


def oracle(nu: float, dim: int, k: int) -> arb:
    """μ_k((1−u)^ν) = 2^{d+ν−2} Γ(d/2) Γ(ν+(d−1)/2)/√π · (−ν)_k/Γ(k+ν+d−1), MATH §4."""
    v, half = arb(nu), arb(dim) / 2
    constant = arb(2) ** (dim + v - 2) * half.gamma() * (v + half - arb("0.5")).gamma() / arb.pi().sqrt()
    return constant * (-v).rising(arb(k)) / (k + v + dim - 1).gamma()


def relative(values: list[arb], expected: list[arb]) -> float:
    with ctx.workprec(4000):
        return max(float(abs(a / b - 1)) if b != 0 else float(abs(a)) for a, b in zip(values, expected, strict=True))


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference spectra are not beside this checkout")
def test_against_the_reference_spectra() -> None:
    for entry in json.loads(REFERENCE.read_text()):
        expected = entry["eigenvalues"]
        profile = profiles.relu(entry["depth"], entry["kernel"] == "ntk")
        got = sphere_eigenvalues(profile, entry["dim"], len(expected) - 1)
        with ctx.workprec(200):
            assert relative(got.values, [arb(x) for x in expected]) < 1e-18
        zeros = [x == "0" for x in expected]
        assert [v == 0 for v in got.values] == zeros
        np.testing.assert_allclose(got.float64(), [float(x) for x in expected], rtol=3e-16, atol=0)
        assert got.errors.max() < 1e-17
        assert np.array_equal(np.isneginf(got.log10()), zeros)


@pytest.mark.parametrize(
    ("nu", "dim", "grading"), [(0.5, 3, 1), (1.5, 2, 1), (0.5, 64, 1), (0.25, 10, 2), (0.125, 5, 4)]
)
def test_powers_of_one_minus_u(nu: float, dim: int, grading: int) -> None:
    """(1−u)^ν = 2^ν sin^{2ν}(θ/2): analytic in θ^{1/m} for 2ν m an integer."""
    got = sphere_eigenvalues(lambda us: [(1 - u) ** arb(nu) for u in us], dim, 60, grading=grading)
    with ctx.workprec(400):
        assert relative(got.values, [oracle(nu, dim, k) for k in range(61)]) < 1e-17


def test_large_dimension_is_right_where_float64_underflows() -> None:
    got = sphere_eigenvalues(lambda us: [(1 - u).sqrt() for u in us], 500, 100)
    with ctx.workprec(1000):
        exact = [oracle(0.5, 500, k) for k in range(101)]
        assert relative(got.values, exact) < 1e-17
    far = sphere_eigenvalues(lambda us: [(u - 1).exp() for u in us], 10, 180)
    assert far.float64()[180] == 0.0
    # exp(u) in dimension d: μ_k = Γ(d/2) 2^{d/2−1} I_{k+d/2−1}(1).
    with ctx.workprec(300):
        exact = [arb(5).gamma() * arb(2) ** 4 * arb(1).bessel_i(arb(k + 4)) / arb(1).exp() for k in range(181)]
        assert relative(far.values, exact) < 1e-17
        assert far.log10()[180] == pytest.approx(float(exact[180].log() / arb(10).log()), rel=1e-15)


@pytest.mark.parametrize("tangent", [False, True])
def test_trace_with_its_tail(tangent: bool) -> None:
    """Σ_{k≤K} N μ → κ(1) with a tail ~ 1/K (NTK) or 1/K³ (RF): halving K multiplies it by 2 or 8."""
    mu = sphere_eigenvalues(profiles.relu(3, tangent), 4, 400).float64()
    sums = np.cumsum([multiplicity(4, k) * m for k, m in enumerate(mu)])
    tail = (3.0 if tangent else 1.0) - sums
    assert 0 < tail[400] < 0.01
    assert tail[200] / tail[400] == pytest.approx(2.0 if tangent else 8.0, rel=0.05)


def test_zeros_are_exact() -> None:
    def zeros(profile, dim=5, top=40, **options) -> list[int]:
        got = sphere_eigenvalues(profile, dim, top, **options)
        return [k for k, v in enumerate(got.values) if v == 0]

    odd, even = list(range(3, 41, 2)), list(range(2, 41, 2))
    assert zeros(profiles.relu(2, False)) == odd
    assert zeros(profiles.relu(2, True)) == odd
    assert zeros(profiles.relu(3, True)) == []
    assert zeros(profiles.step(2)) == even
    assert zeros(lambda us: [u.asin() for u in us]) == [0, *even]  # sign: no even part
    assert zeros(lambda us: [abs(u) ** 2 * (2 * u * u).exp() for u in us]) == list(range(1, 41, 2))
    assert zeros(lambda us: [u**3 + 1 for u in us]) == [k for k in range(41) if k not in (0, 1, 3)]
    both = zeros(lambda us: [a + u**5 for a, u in zip(profiles.relu(2, False)(us), us, strict=True)])
    assert both == [k for k in odd if k > 5]
    assert zeros(lambda us: [arb(0) for _ in us]) == list(range(41))
    assert zeros(lambda us: [((1 + u) / 2) ** 36 for u in us], degree=36) == [37, 38, 39, 40]


def test_tiny_but_not_zero_is_kept() -> None:
    """A part of size 1e-60 is no zero, and neither is an entire kernel with a small argument."""
    got = sphere_eigenvalues(lambda us: [u + arb(10) ** -60 * (1 - u).sqrt() for u in us], 5, 30)
    with ctx.workprec(400):
        exact = [arb(10) ** -60 * oracle(0.5, 5, k) + (arb(1) / 5 if k == 1 else 0) for k in range(31)]
        assert relative(got.values, exact) < 1e-17
    assert all(v != 0 for v in sphere_eigenvalues(lambda us: [(u / 100).exp() for u in us], 10, 30).values)


def test_step_of_depth_three_needs_its_grading() -> None:
    fine = sphere_eigenvalues(profiles.step(3), 3, 40, grading=2)
    finer = sphere_eigenvalues(profiles.step(3), 3, 40, grading=4)
    assert relative(fine.values, finer.values) < 1e-17
    with pytest.raises(SimlabError, match="not analytic in the angle"):
        sphere_eigenvalues(profiles.step(3), 3, 40, grading=1)


def test_circle_is_a_cosine_series() -> None:
    """d = 2, κ = θ² : μ_k = (1/π)∫θ² cos kθ = 2(−1)^k/k²."""
    got = sphere_eigenvalues(lambda us: [u.acos() ** 2 for u in us], 2, 50)
    with ctx.workprec(300):
        exact = [arb.pi() ** 2 / 3] + [arb(2 * (-1) ** k) / k**2 for k in range(1, 51)]
        assert relative(got.values, exact) < 1e-17


def test_scale_of_the_kernel_does_not_matter() -> None:
    small = sphere_eigenvalues(lambda us: [x * arb(10) ** -400 for x in profiles.relu(3, True)(us)], 10, 50)
    plain = sphere_eigenvalues(profiles.relu(3, True), 10, 50)
    np.testing.assert_allclose(small.log10() + 400, plain.log10(), rtol=0, atol=1e-12)


def test_an_eigenvalue_that_cannot_be_told_from_zero_is_an_error() -> None:
    with pytest.raises(SimlabError, match="too small to be told from 0"):
        sphere_eigenvalues(lambda us: [u**40 for u in us], 10, 44)


def test_a_profile_that_fails_is_named() -> None:
    with pytest.raises(SimlabError, match="not a number at u"):
        sphere_eigenvalues(lambda us: [(u - 2).sqrt() for u in us], 3, 4)
    with pytest.raises(SimlabError, match="1 values for"):
        sphere_eigenvalues(lambda us: us[:1], 3, 4)


@pytest.mark.parametrize(("dim", "top", "options", "match"), [
    (1, 4, {}, "dim = 1"), (3, -1, {}, "max_degree = -1"), (3, 4, {"grading": 0}, "grading = 0"),
    (3, 4, {"rtol": 2.0}, "rtol"),
])  # fmt: skip
def test_bad_arguments(dim: int, top: int, options: dict, match: str) -> None:
    with pytest.raises(BadInput, match=match):
        sphere_eigenvalues(profiles.relu(2, False), dim, top, **options)
