"""The certificate of a width: published figures, the transform outside actual tubes by brute force, its inverse."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betainc, j0, j1, jv

from simlab.core.errors import BadInput
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial
from simlab.theory.certificate import Spectrum, certificate, least_width
from simlab.theory.tubes import covered_to, share, share_of_tubes

Floats = NDArray[np.float64]

TARGETS = {
    "ball": Radial(lambda r: (r < 1.0) * 1.0, (1.0,)),
    "shells": Radial(lambda r: np.sign(np.sin(3 * np.pi * r)) * (r < 4 / 3), (1 / 3, 2 / 3, 1.0, 4 / 3)),
    "relu": Radial(lambda r: np.maximum(0.0, 1.0 - r), (1.0,)),
    "linear": Radial(lambda r: np.interp(r, [0.0, 0.4, 1.1], [-1.0, 2.0, 0.5]), (0.4, 1.1)),
}


def sinc_slope(z: Floats) -> Floats:
    """J_{3/2}(z), by its own formula away from 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        closed = np.sqrt(2 / (np.pi * z)) * (np.sin(z) / z - np.cos(z))
    return np.where(z > 1e-2, closed, np.sqrt(2 / np.pi) * z**1.5 / 3)


def bessel(order: float, z: Floats) -> Floats:
    """J of the orders of d = 2 and 3 from formulas that the certificate does not use."""
    match order:
        case 0.0:
            return np.asarray(j0(z))
        case 0.5:
            return np.asarray(np.sqrt(2 / np.pi) * np.sin(z) / np.sqrt(np.maximum(z, 1e-300)))
        case 1.0:
            return np.asarray(j1(z))
        case 1.5:
            return sinc_slope(z)
    return np.asarray(jv(order, z))


def brute(target: Radial, law: BallLaw, last: float, nodes: int) -> tuple[Floats, Floats, float]:
    """Ratios u up to `last`, midpoints in √u, the energies e(u) du there, and E(g − c)².

    e = d u (∫(g − c) J_ν(s) J_{ν−1}(us) ds)² by Simpson's rule between the breaks; the density of s is d J_ν²/s.
    """
    root = (np.arange(nodes) + 0.5) * math.sqrt(last) / nodes
    u, du = root**2, 2 * root * math.sqrt(last) / nodes
    wave, nu = 2 * math.pi * law.ball_radius / law.scale, law.dim / 2
    amplitude, energy = np.zeros(nodes), 0.0
    for a, b in itertools.pairwise([0.0, *target.breaks]):
        s = np.linspace(wave * a, wave * b, 2 * math.ceil(3 * (b - a) * wave * last) + 61)
        within = np.clip(s / wave, a + 1e-12, b - 1e-12)  # the limit from within at a jump
        weights = np.full(s.size, 2.0)
        weights[1::2] = 4.0
        weights[[0, -1]] = 1.0
        weights *= (s[1] - s[0]) / 3
        g, J = target.profile(within) - target.outside, bessel(nu, s)
        amplitude += bessel(nu - 1, np.outer(u, s)) @ (weights * g * J)
        energy += law.dim * float(np.sum(weights * (g * J) ** 2 / np.maximum(s, 1e-9)))
    return u, law.dim * u * amplitude**2 * du, energy


@pytest.mark.parametrize(("dim", "width", "published"), [(3, 64, 0.01292), (10, 64, 0.04748), (10, 1024, 0.03049)])
def test_the_published_figures(dim: int, width: int, published: float) -> None:
    law = BallLaw.natural(dim)
    median = law.median
    found = certificate(Radial(lambda r: (r < median) * 1.0, (median,)), law, width)
    assert found.bound == pytest.approx(published, abs=6e-6)
    assert 0 < found.error < 1e-8
    assert found.energy == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("name", TARGETS)
def test_outside_actual_tubes_in_the_plane(name: str) -> None:
    """d = 2, where the union of arcs is exact: random directions leave more outside, evenly spread ones as much."""
    target, law, rng = TARGETS[name], BallLaw.of_mass(2, 0.4), np.random.default_rng(len(name))
    spectrum = Spectrum(target, law)
    u, e, energy = brute(target, law, 150.0, 3000)
    for width in rng.integers(1, 12, size=6).tolist():
        bound = spectrum.certificate(width).bound
        for V in (rng.standard_normal((width, 2)), _even(width)):
            free = 1 - share_of_tubes(V, u).share
            # Beyond the last ratio e falls like u^{−2} in the mean and a tube's share like 1/u: half of the last.
            outside = float(e @ free + (energy - e.sum()) * (1 + free[-1]) / 2)
            assert outside >= bound - 3e-5 * energy
        assert outside == pytest.approx(bound, abs=3e-5 * energy)


def _edges(u: Floats) -> Floats:
    """The right ends of the cells of which u are the midpoints in √u."""
    return np.asarray((np.sqrt(u) + math.sqrt(u[0])) ** 2)


def _even(width: int) -> Floats:
    angles = np.arange(width) * np.pi / width
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.mark.parametrize("name", TARGETS)
def test_outside_actual_tubes_in_space(name: str) -> None:
    """d = 3: each of 20 000 random rays leaves the tubes at a ratio of its own; the energy beyond it lies outside."""
    target, law, rng = TARGETS[name], BallLaw.of_mass(3, 0.4), np.random.default_rng(len(name))
    spectrum = Spectrum(target, law)
    u, e, energy = brute(target, law, 60.0, 1500)
    beyond = energy - np.append(0.0, np.cumsum(e))
    for width in (1, *rng.integers(2, 60, size=4).tolist()):
        V = rng.standard_normal((width, 3))
        leaves = covered_to(V / np.linalg.norm(V, axis=1, keepdims=True), 20_000, rng)
        # Beyond the last ratio nothing is counted as outside.
        outside = np.interp(leaves, np.append(0.0, _edges(u)), beyond) * (leaves < u[-1])
        mean, error = outside.mean(), outside.std() / math.sqrt(outside.size)
        bound = spectrum.certificate(width).bound
        assert mean >= bound - 3 * error - 1e-5 * energy
        if width == 1:
            assert mean == pytest.approx(bound, abs=4 * error + 1e-5 * energy)


@pytest.mark.parametrize(("dim", "name", "width"), [(5, "shells", 40), (12, "relu", 3)])
def test_against_a_plain_integral(dim: int, name: str, width: int) -> None:
    """∫ e (1 − min(1, mI)) du and all that is beyond, with scipy's functions on an even grid."""
    target, law = TARGETS[name], BallLaw.of_mass(dim, 0.6)
    u, e, energy = brute(target, law, 8.0, 800)
    free = 1 - np.minimum(1, width * betainc((dim - 1) / 2, 0.5, np.maximum(u, 1) ** -2.0))
    rest = (energy - e.sum()) * (1 + free[-1]) / 2
    assert certificate(target, law, width).bound == pytest.approx(float(e @ free) + rest, rel=2e-3)


def test_wider_nets_have_lower_bounds_and_least_widths_invert_them() -> None:
    for dim, name in ((2, "relu"), (3, "ball"), (10, "shells"), (40, "relu")):
        spectrum = Spectrum(TARGETS[name], BallLaw.of_mass(dim, 0.5))
        bounds = np.array([spectrum.certificate(2**k).bound for k in range(6)])
        assert np.all(np.diff(bounds) < 0)
        assert bounds[0] < spectrum.energy
        for eps in np.sqrt(bounds[[1, 4]] * bounds[[2, 5]]).tolist():
            least = spectrum.least_width(eps)
            width = int(least.width)
            assert spectrum.certificate(width).bound <= eps < spectrum.certificate(width - 1).bound
            assert least.log10 == pytest.approx(math.log10(width))
            # What was asked before does not matter.
            assert least_width(TARGETS[name], BallLaw.of_mass(dim, 0.5), eps) == least
        assert spectrum.least_width(spectrum.energy).width == 1


def test_least_widths_beyond_floats() -> None:
    """d = 600, shells that oscillate three times as fast as φ: 10^350 neurons for half of the energy."""
    law, count = BallLaw.of_mass(600, 0.4), 180
    edges = np.linspace(1.0, 1.5, count + 1)
    signs = np.resize([1.0, -1.0], count)
    target = Radial(lambda r: np.append(signs, 0.0)[np.searchsorted(edges, r, side="right") - 1], tuple(edges.tolist()))
    spectrum = Spectrum(target, law)
    least = spectrum.least_width(0.5 * spectrum.energy)
    assert least.width == math.inf
    assert 600 * math.log10(2.0) < least.log10 < 600 * math.log10(4.0)
    assert spectrum.at_log(least.log10 * math.log(10)).bound == pytest.approx(0.5 * spectrum.energy, rel=1e-4)
    assert spectrum.beyond(2.0) > 0.9 * spectrum.energy


def test_nothing_is_promised_without_need() -> None:
    """A constant, a width beyond all reach, an error of 0: where a bound is 0, and where there is no width."""
    law = BallLaw.of_mass(3, 0.4)
    constant = Spectrum(Radial(lambda r: np.full(np.shape(r), 7.0), (1.0,)), law)
    assert constant.certificate(1).bound == 0.0
    assert constant.least_width(0.0).width == 1
    ball = Spectrum(TARGETS["ball"], law)
    assert ball.certificate(10**40).bound == 0.0
    assert ball.least_width(0.0).width == math.inf
    assert ball.beyond(0.0) == pytest.approx(0.4, abs=1e-12)
    assert float(share(3, ball.certificate(9).kink)) == pytest.approx(1 / 9, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda s: s.certificate(0), "width = 0: must be 1 or more"),
        (lambda s: s.certificate(2.5), "width = 2.5: must be a whole number"),
        (lambda s: s.least_width(-0.1), "eps = -0.1: must be a finite number, 0 or more"),
        (lambda s: s.least_width(math.nan), "eps = nan: must be a finite number"),
        (lambda s: certificate(TARGETS["ball"], BallLaw(1), 5), "dim = 1: must be 2 to"),
        (lambda s: certificate(np.sum, BallLaw(3), 5), "target = .*: must be radial"),
    ],
)
def test_refused(call: object, says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        call(Spectrum(TARGETS["ball"], BallLaw.natural(3)))  # type: ignore[operator]
    assert "\n" not in str(caught.value)
