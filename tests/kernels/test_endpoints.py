"""End points: the tables of MATH §4 against extraction by numbers, and both against measured eigenvalues."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

import tests.support.kernel_profiles as profiles
from simlab.core.errors import BadInput, SimlabError
from simlab.kernels.spectra import endpoints as tables
from simlab.kernels.spectra.endpoints import Endpoints, decay_constant, log_decay_constant, predicted
from simlab.kernels.spectra.extract import extract
from simlab.kernels.spectra.extract64 import extract64
from simlab.kernels.spectra.sphere import sphere_eigenvalues


def agree(found: Endpoints, known: Endpoints, rtol: float) -> None:
    assert found.exponent == known.exponent
    assert (found.weaker is None) == (known.weaker is None)
    numbers = [[e.at_plus_one, e.at_minus_one, *(e.weaker or ())] for e in (found, known)]
    np.testing.assert_allclose(*numbers, rtol=rtol, atol=0)


POWERS = ((1.0, 0.5), (2.0, 0.37), (3.0, 0.1), (1.5, 0.99), (1.0, 1.0))
KNOWN = [
    *[(profiles.relu(L, False), tables.relu_rf(L)) for L in (1, 2, 3, 6, 10)],
    *[(profiles.relu(L, True), tables.relu_ntk(L)) for L in (1, 2, 3, 6, 10)],
    *[(profiles.step(L), tables.step_rf(L)) for L in (1, 2, 3, 4, 6, 8)],
    *[(profiles.power_exponential(c, g), tables.power_exponential(c, g)) for c, g in POWERS],
]


@pytest.mark.parametrize(("profile", "known"), KNOWN)
def test_tables_against_extraction(profile, known: Endpoints) -> None:
    agree(extract(profile), known, 1e-13)


def test_extraction_of_other_powers() -> None:
    assert extract(lambda us: [u + (1 - u) ** 7 * (1 - u).sqrt() for u in us]) == Endpoints(7.5, 1.0)
    sign = extract(lambda us: [u.asin() for u in us])
    agree(sign, Endpoints(0.5, -math.sqrt(2), math.sqrt(2)), 1e-14)
    weaker = extract(lambda us: [(1 - u) ** 2 * (1 - u).sqrt() + (1 + u).sqrt() ** 3 for u in us])
    assert weaker.exponent == 1.5
    assert weaker.at_plus_one == 0.0
    assert weaker.weaker is not None
    assert weaker.weaker[0] == 2.5
    assert weaker.terms()[1][1:] == (weaker.weaker[1], 0.0)


@pytest.mark.parametrize("profile", [
    lambda us: [u**3 for u in us], lambda us: [u**40 for u in us], lambda us: [(2 * u / 3).asin() for u in us],
    lambda us: [(u - 1).exp() for u in us], lambda us: [arb(0) for _ in us],
])  # fmt: skip
def test_smooth_kernels_have_no_exponent(profile) -> None:
    assert extract(profile) == Endpoints(None)
    assert Endpoints(None).terms() == []


def test_a_logarithm_is_refused() -> None:
    with pytest.raises(SimlabError, match="a logarithm"):
        extract(lambda us: [(1 - u) * (1 - u).log() for u in us])
    with pytest.raises(SimlabError, match="not a number near u = 1"):
        extract(lambda us: [(u - 1).log() for u in us])


@pytest.mark.parametrize(("profile", "known"), [
    (profiles.relu64(2, False), tables.relu_rf(2)), (profiles.relu64(2, True), tables.relu_ntk(2)),
    (profiles.relu64(3, True), tables.relu_ntk(3)), (profiles.step64(3), tables.step_rf(3)),
    (lambda t, s: np.exp(-2 * np.sqrt(t)), tables.power_exponential(2.0, 0.5)),
    (lambda t, s: np.exp(-t), Endpoints(None)),
    (lambda t, s: (s - t) ** 3, Endpoints(None)),
])  # fmt: skip
def test_float64_finds_a_few_digits(profile, known: Endpoints) -> None:
    agree(extract64(profile), known, 1e-4)


def test_float64_finds_an_exponent_of_no_kind() -> None:
    found = extract64(lambda t, s: np.exp(-2 * t**0.37))
    assert found.exponent == pytest.approx(0.37, abs=1e-5)
    assert found.at_plus_one == pytest.approx(-2, rel=1e-4)


@pytest.mark.parametrize("profile", [
    lambda t, s: t * np.log(t), lambda t, s: np.exp(-3 * t**0.1), lambda t, s: 1 - t**0.995,
    lambda t, s: np.sqrt(t) + 1e-3 * np.random.default_rng(1).standard_normal(t.size),
])  # fmt: skip
def test_float64_refuses_what_is_unclear(profile) -> None:
    with pytest.raises(SimlabError, match="float64 does not tell"):
        extract64(profile)


def test_float64_refuses_what_is_no_number() -> None:
    with pytest.raises(SimlabError, match="not a number near u = 1"):
        extract64(lambda t, s: np.full(t.shape, np.nan))


# What follows from them


def test_decay_constant() -> None:
    """(1−u)^{1/2} on S²: μ_k = C(3,½) Γ(k−½)/Γ(k+5/2); its mean is E√(1−u) = ½∫_0^2 √t dt = 2√2/3."""
    mean = decay_constant(3, 0.5) * math.gamma(-0.5) / math.gamma(2.5)
    assert mean == pytest.approx(2 * math.sqrt(2) / 3, rel=1e-14)
    assert decay_constant(3, 1.5) > 0 > decay_constant(3, 0.5)
    assert decay_constant(1000, 0.5) == -math.inf
    assert math.isfinite(log_decay_constant(1000, 0.5)[0])
    with pytest.raises(BadInput, match="integer power"):
        decay_constant(3, 2.0)
    with pytest.raises(BadInput, match="dimension 2 or more"):
        decay_constant(1, 0.5)


@pytest.mark.parametrize("dim", [2, 5, 300])
def test_prediction_is_exact_for_a_power(dim: int) -> None:
    got = sphere_eigenvalues(lambda us: [(1 - u).sqrt() for u in us], dim, 40)
    log10, sign = predicted(Endpoints(0.5, 1.0), dim, np.arange(41))
    np.testing.assert_allclose(log10, got.log10(), atol=1e-11)
    np.testing.assert_array_equal(sign, np.sign([float(v * arb(10) ** 200) for v in got.values]))


@pytest.mark.parametrize(("profile", "known", "tolerance"), [
    (profiles.relu(3, True), tables.relu_ntk(3), 2e-3), (profiles.relu(4, False), tables.relu_rf(4), 2e-2),
])  # fmt: skip
def test_prediction_against_the_spectrum(profile, known: Endpoints, tolerance: float) -> None:
    got = sphere_eigenvalues(profile, 5, 200).log10()
    ratio = 10.0 ** (predicted(known, 5, np.arange(201))[0] - got)
    assert abs(ratio[199:] - 1).max() < tolerance
    assert abs(ratio[199:] - 1).max() < 0.4 * abs(ratio[99:101] - 1).max()  # an error of order k^{−2}


def test_step_needs_its_weaker_end() -> None:
    """MATH §4: the leading term alone is off by ±12 % at k = 40; with the end −1 by 1e-3."""
    got = sphere_eigenvalues(profiles.step(3), 10, 41, grading=2).log10()[40:]
    known = tables.step_rf(3)
    whole = 10.0 ** (predicted(known, 10, [40, 41])[0] - got) - 1
    alone = 10.0 ** (predicted(Endpoints(known.exponent, known.at_plus_one), 10, [40, 41])[0] - got) - 1
    assert np.all(np.abs(whole) < 5e-3)
    assert np.all(np.abs(alone) > 0.08)


def test_prediction_of_what_vanishes() -> None:
    log10, sign = predicted(tables.relu_ntk(2), 5, [3, 4, 5])
    assert np.isneginf(log10[[0, 2]]).all()
    assert list(sign) == [0.0, 1.0, 0.0]
    assert np.isneginf(predicted(Endpoints(None), 5, [3])[0]).all()


@pytest.mark.parametrize("table", [tables.relu_rf, tables.relu_ntk, tables.step_rf])
def test_no_depth_is_refused(table) -> None:
    with pytest.raises(BadInput, match="depth = 0"):
        table(0)
