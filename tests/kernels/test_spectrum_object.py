"""The Spectrum: multiplicities, tail, effective dimension, and a fitted exponent whose interval holds the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from scipy.special import gammaln

import tests.support.kernel_profiles as profiles
from simlab.core.errors import BadInput, SimlabError
from simlab.kernels.spectra.cube import cube_eigenvalues
from simlab.kernels.spectra.fit import fit_decay
from simlab.kernels.spectra.float64 import float64_eigenvalues
from simlab.kernels.spectra.spectrum import Spectrum
from simlab.kernels.spectra.sphere import sphere_eigenvalues
from simlab.sphere.multiplicity import multiplicity


def sphere(profile, dim: int, top: int, trace: float, **options) -> Spectrum:
    return Spectrum.of("a kernel", "sphere", dim, sphere_eigenvalues(profile, dim, top, **options), trace)


def test_fields() -> None:
    s = sphere(profiles.relu(2, True), 10, 30, 2.0)
    assert s.eigenvalues[3] == 0.0
    assert s.log10[3] == -np.inf
    assert s.errors[3] == 0.0
    assert s.multiplicities.dtype == np.int64
    assert list(s.multiplicities) == [multiplicity(10, k) for k in range(31)]
    assert s.method == "arb"
    big = sphere(profiles.relu(3, True), 500, 100, 3.0)
    assert big.multiplicities.dtype == object
    assert big.multiplicities[100] == multiplicity(500, 100)
    assert big.log10[100] == pytest.approx(math.log10(big.eigenvalues[100]))


def test_tail() -> None:
    """What degrees beyond K have, against the sum of those up to 16 K (the rest of it is 1/16)."""
    long, short = (sphere(profiles.relu(3, True), 4, top, 3.0) for top in (800, 50))
    part = long.weights()[51:].sum()
    assert short.tail.value == pytest.approx(part + long.tail.value, rel=1e-12)
    assert short.tail.error < 1e-13
    smooth = sphere(lambda us: [(u - 1).exp() for u in us], 10, 60, 1.0)
    assert 0 <= smooth.tail.value <= smooth.tail.error < 1e-14


def test_effective_dimension_bounds_the_truth() -> None:
    long, short = (sphere(profiles.relu(3, True), 4, top, 3.0) for top in (800, 30))
    for ridge in (1.0, 1e-2, 1e-4, 1e-5):
        truth, rough = long.effective_dimension(ridge), short.effective_dimension(ridge)
        assert abs(rough.value - truth.value) <= rough.error + truth.error
        assert truth.error < rough.error
    plain = np.sum(long.weights() / (long.eigenvalues + 1.0))
    assert long.effective_dimension(1.0).value == pytest.approx(plain + long.tail.value, rel=1e-6)
    with pytest.raises(BadInput, match="must be positive"):
        long.effective_dimension(0.0)
    with pytest.raises(SimlabError, match="eigenvalue 1 is negative"):
        sphere(lambda us: [-u for u in us], 4, 3, -1.0).effective_dimension(1.0)


def test_effective_dimension_of_the_cube() -> None:
    """All degrees: Σ_i λ_i/(λ_i + ridge) over the 2^d eigenvalues; some of them: the truth lies within the error."""
    whole = Spectrum.of("k", "cube", 10, cube_eigenvalues(profiles.relu(3, True), 10, 10), 3.0)
    counts = [math.comb(10, k) for k in range(11)]
    assert list(whole.multiplicities) == counts
    plain = np.dot(counts, whole.eigenvalues / (whole.eigenvalues + 1e-3))
    assert whole.tail.value == pytest.approx(0.0, abs=1e-14)
    assert whole.effective_dimension(1e-3).value == pytest.approx(plain, rel=1e-10)
    part = Spectrum.of("k", "cube", 10, cube_eigenvalues(profiles.relu(3, True), 10, 4), 3.0).effective_dimension(1e-3)
    assert abs(part.value - plain) <= part.error
    with pytest.raises(BadInput, match="on the sphere only"):
        whole.fit()


def test_degrees_lost_in_float64_belong_to_the_tail() -> None:
    found = float64_eigenvalues(profiles.relu64(3, True), 64, 60)
    s = Spectrum.of("k", "sphere", 64, found, 3.0)
    assert not s.known().all()
    exact = sphere(profiles.relu(3, True), 64, 60, 3.0)
    rough, truth = s.effective_dimension(1e-2), exact.effective_dimension(1e-2)
    assert abs(rough.value - truth.value) <= rough.error + truth.error


# The fit


@pytest.mark.parametrize(("nu", "dim"), [(0.5, 3), (1.5, 10), (0.25, 2), (0.37, 64), (0.5, 500)])
def test_fit_of_exact_data(nu: float, dim: int) -> None:
    """Γ(k−ν)/Γ(k+ν+d−1) itself, in any dimension: the interval closes down to rounding."""
    k = np.arange(1, 201)
    log10 = (gammaln(k - nu) - gammaln(k + nu + dim - 1)) / math.log(10) + 2
    fit = fit_decay(k, log10, dim)
    assert fit.nu == pytest.approx(nu, abs=1e-7)
    assert fit.exponent == pytest.approx(2 * nu + dim - 1)
    assert fit.interval[0] <= fit.exponent <= fit.interval[1]
    assert fit.interval[1] - fit.interval[0] < 1e-5
    assert fit.log10_constants == pytest.approx((2.0, 2.0), abs=1e-5)


CASES = [
    (profiles.relu(2, True), 10, 160, 1, 0.5), (profiles.relu(3, True), 10, 50, 1, 0.5),
    (profiles.relu(10, True), 5, 60, 1, 0.5),
    (profiles.relu(2, False), 10, 100, 1, 1.5), (profiles.relu(3, False), 64, 200, 1, 1.5),
    (profiles.relu(3, True), 2, 80, 1, 0.5),
    (profiles.step(2), 10, 100, 1, 0.5), (profiles.step(3), 10, 200, 2, 0.25), (profiles.step(3), 3, 40, 2, 0.25),
    (profiles.step(4), 3, 150, 4, 0.125), (profiles.step(6), 3, 120, 16, 0.03125),
    (profiles.power_exponential(1.0, 0.5), 10, 100, 1, 0.5),
    (profiles.relu(3, True), 500, 100, 1, 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("profile", "dim", "top", "grading", "nu"), CASES)
def test_interval_holds_the_truth(profile, dim: int, top: int, grading: int, nu: float) -> None:
    fit = sphere(profile, dim, top, 1.0, grading=grading).fit()
    assert fit.interval[0] <= 2 * nu + dim - 1 <= fit.interval[1]
    assert fit.power_law
    assert fit.nu == pytest.approx((fit.exponent - dim + 1) / 2)


def test_fit_of_one_parity_and_window() -> None:
    s = sphere(profiles.relu(3, True), 5, 100, 3.0)
    for parity in ("even", "odd"):
        fit = s.fit(parity=parity, window=(30, 90))
        assert fit.nu == pytest.approx(0.5, abs=1e-3)
        assert np.isnan(fit.log10_constants[parity == "even"])
        assert fit.window == ((30, 90) if parity == "even" else (31, 89))
    # c₊ + c₋ and c₊ − c₋ over C(d, ν): −b(3 ± ½), MATH §4.
    even, odd = s.fit().log10_constants
    assert 10 ** (even - odd) == pytest.approx(3.5 / 2.5, rel=1e-3)


def test_what_is_no_power_law_is_called_none() -> None:
    assert not sphere(lambda us: [(u - 1).exp() for u in us], 10, 80, 1.0).fit().power_law


def test_fit_refuses_too_little() -> None:
    with pytest.raises(SimlabError, match="needs 8 eigenvalues other than 0"):
        sphere(profiles.relu(2, True), 5, 20, 2.0).fit()
    with pytest.raises(SimlabError, match="needs 8 eigenvalues other than 0, there are 0"):
        sphere(lambda us: [arb(1) for _ in us], 5, 40, 1.0).fit()
    with pytest.raises(SimlabError, match="parity = 'both': unknown"):
        sphere(profiles.relu(3, True), 5, 40, 3.0).fit(parity="both")
