"""Transforms of radial functions against φ: Arb, Lommel's integral, the definition at d = 3, Parseval."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import acb, arb, ctx
from scipy.integrate import quad
from scipy.special import j0, jv, jvp

from simlab.core.errors import BadInput
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial
from simlab.theory.hankel import Transform

BALL = Radial(lambda r: (r < 1.0) * 1.0, (1.0,))
RELU = Radial(lambda r: np.maximum(0.0, 1.0 - r), (1.0,))
SHELLS = Radial(lambda r: np.sign(np.sin(4 * np.pi * r)) * (r < 1.5), tuple(0.25 * k for k in range(1, 7)))
RAMP = Radial(lambda r: np.interp(r, [0.0, 0.5, 1.2], [2.0, -1.0, 3.0]), (0.5, 1.2))  # 3 beyond


def segments(t: Transform, last: float) -> float:
    """∫₀^last e du"""
    edges = [0.0, 1.0]
    while edges[-1] < last:
        edges.append(2 * edges[-1])
    parts = [t.segment(a, b) for a, b in itertools.pairwise(edges)]
    return math.fsum(float(np.sum(p.weights * t.dim * p.ratio * p.amplitude**2)) for p in parts)


@pytest.mark.parametrize(("dim", "target", "power"), [(2, RELU, 1), (3, BALL, 0), (10, RELU, 1), (50, BALL, 0)])
def test_amplitudes_against_arb(dim: int, target: Radial, power: int) -> None:
    """A(u) = ∫₀^S (1 − s/S)^power J_ν(s) J_{ν−1}(us) ds by Arb's rigorous quadrature."""
    t = Transform(target, BallLaw.of_mass(dim, 0.4))
    ctx.prec = 90
    try:
        last, nu = acb(t.last), acb(dim) / 2
        for ratio in (0.3, 1.0, 5.7):
            exact = acb.integral(
                lambda s, _, u=ratio: (1 - s / last) ** power * s.bessel_j(nu) * (s * u).bessel_j(nu - 1),
                1e-30, last, rel_tol=arb(1e-14), abs_tol=arb(1e-17),
            )  # fmt: skip
            assert float(t.amplitude(ratio)) == pytest.approx(float(exact.real), abs=2e-13)
    finally:
        ctx.prec = 53


@pytest.mark.parametrize("dim", [2, 7, 100, 1000])
def test_the_ball_by_lommels_integral(dim: int) -> None:
    """d/du [u^{1−ν} A] = −u^{1−ν} ∫₀^S s J_ν(s) J_ν(us) ds, and the integral is closed."""
    t, nu = Transform(BALL, BallLaw.of_mass(dim, 0.7)), dim / 2
    last = t.last

    def slope(u: float, first: float) -> float:
        closed = last / (1 - u * u) * (u * jv(nu, last) * jvp(nu, u * last) - jv(nu, u * last) * jvp(nu, last))
        return float((u / first) ** (1 - nu) * closed)

    for a, b in ((1.05, 1.3), (1.7, 2.0)):
        change = quad(slope, a, b, args=(a,), limit=400, epsabs=1e-12)[0]
        here, there = t.amplitude([a, b])
        assert here - (b / a) ** (1 - nu) * there == pytest.approx(change, abs=1e-11)


def test_the_transform_itself_in_three_dimensions() -> None:
    """(gφ)^(ρ) = ∫ 4πr² gφ sin(2πρr)/(2πρr) dr with φ written out, for a rescaled law and a constant outside."""
    law = BallLaw.of_mass(3, 0.4)
    R = (3 / (4 * math.pi)) ** (1 / 3)

    def integrand(r: float, rho: float) -> float:
        y = 2 * math.pi * R * r
        phi = (R / r) ** 1.5 * math.sqrt(2 / (math.pi * y)) * (math.sin(y) / y - math.cos(y))
        g = float(RAMP.profile(np.array(law.scale * r))) - 3.0
        return 4 * math.pi * r * r * g * phi * math.sin(2 * math.pi * rho * r) / (2 * math.pi * rho * r)

    t = Transform(RAMP, law)
    for rho in (0.2, 0.7, 2.3):
        direct = quad(integrand, 1e-12, 1.2 / law.scale, args=(rho,), points=[0.5 / law.scale], limit=200)[0]
        assert float(t.at(rho)) == pytest.approx(direct, abs=1e-9)


@pytest.mark.parametrize(
    ("dim", "target", "last", "left"),
    [
        (2, RELU, 256.0, 1e-7),
        (3, RAMP, 64.0, 1e-4),
        (10, SHELLS, 512.0, 2e-3),
        (50, RELU, 4.0, 1e-4),
        (1000, BALL, 2.0, 1e-3),
    ],
)
def test_parseval(dim: int, target: Radial, last: float, left: float) -> None:
    """Never more energy than E(g − c)², here by the law's own density, and nearly all of it in the end."""
    law = BallLaw.of_mass(dim, 0.4)
    t = Transform(target, law)
    energy, error = t.energy
    c = target.outside

    def mass(r: float) -> float:
        at = np.array([r])
        return float((target.profile(at)[0] - c) ** 2 * law.density(at)[0])

    pieces = itertools.pairwise([0.0, *target.breaks])
    by_density = sum(quad(mass, a, b, limit=200, epsabs=1e-13)[0] for a, b in pieces)
    assert energy == pytest.approx(by_density, abs=1e-10)
    assert error < 1.1e-11 * energy + 1e-12
    within = segments(t, last)
    assert -1e-11 < (energy - within) / energy < left


def test_energies_in_high_dimension_are_those_of_the_law() -> None:
    """The ball's energy is its mass, far down in the tail too, where 10⁻⁴¹ of the law is inside radius 1."""
    natural = BallLaw.natural(100)
    t = Transform(BALL, natural)
    assert t.energy[0] == pytest.approx(float(natural.cdf(1.0)), rel=1e-10)
    assert 0 < t.energy[0] < 1e-40
    assert segments(t, 16.0) == pytest.approx(t.energy[0], rel=0.1)


def test_at_dimension_two_against_a_plain_sum() -> None:
    t = Transform(SHELLS, BallLaw.of_mass(2, 0.4))
    s = (np.arange(600_000) + 0.5) * t.last / 600_000  # the breaks lie between the points
    g = SHELLS.profile(s / t.factor)
    for ratio in (0.5, 3.0, 41.0):
        plain = np.sum(g * jv(1, s) * j0(ratio * s)) * t.last / 600_000
        assert float(t.amplitude(ratio)) == pytest.approx(plain, abs=1e-10)


def test_refused() -> None:
    with pytest.raises(BadInput, match=r"^target = .*: must be radial"):
        Transform(lambda X: X[:, 0], BallLaw.natural(3))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="changes out to the radius 1e"):
        Transform(Radial(lambda r: (r < 1e9) * 1.0, (1e9,)), BallLaw.natural(3))
    with pytest.raises(BadInput, match="breaks 5000 times; at most 4000"):
        Transform(Radial(lambda r: (r < 1.0) * 1.0, tuple(np.linspace(0.1, 1.0, 5000).tolist())), BallLaw.natural(3))
    with pytest.raises(BadInput, match="not finite at the radius"):
        Transform(Radial(lambda r: np.where(r < 0.5, np.nan, 0.0), (1.0,)), BallLaw.natural(3)).energy  # noqa: B018


@pytest.mark.parametrize(("dim", "speed"), [(3, 112.5), (4, 112.5), (3, 71.8), (5, 40.0)])
def test_a_profile_that_changes_faster_than_the_bessel_functions(dim: int, speed: float) -> None:
    """Panels follow the profile: E g² against a dense midpoint sum, where two panels a break saw 40 % too much."""
    law = BallLaw.natural(dim)
    last = law.median
    t = Transform(Radial(lambda r: np.cos(speed * r) * (r < last), (last,)), law)
    r = (np.arange(200_000) + 0.5) * last / 200_000
    exact = float(np.sum(np.cos(speed * r) ** 2 * law.density(r))) * last / 200_000
    assert t.energy[0] == pytest.approx(exact, rel=1e-7)
    assert t.energy[1] < 1e-8


def test_a_profile_that_jumps_off_its_breaks_is_refused() -> None:
    law = BallLaw.natural(3)
    with pytest.raises(BadInput, match="not smooth between its breaks"):
        Transform(Radial(lambda r: np.where(r < 0.1234, 1.0, np.where(r < 0.5, -1.0, 0.0)), (0.5,)), law)
    with pytest.raises(BadInput, match="not finite"):
        Transform(Radial(lambda r: 1e200 * (r < 0.5), (0.5,)), law)


def test_beyond_the_range_of_powers() -> None:
    """z^order overflows from d = 1027 on; amplitudes there against scipy's Bessel function of the same order."""
    t = Transform(Radial(lambda r: (r < 1.0).astype(float), (1.0,)), BallLaw.of_mass(1100, 0.5))
    s, weights, g = t._nodes(2.0, 2.0)
    for ratio in (0.9, 1.3):
        direct = float(np.sum(weights * g * jv(t.order, s) * jv(t.order - 1, ratio * s)))
        assert float(t.amplitude(ratio)) == pytest.approx(direct, abs=1e-11)


def test_a_target_too_far_out_is_refused_without_a_warning() -> None:
    far = Radial(lambda r: (r < 1e308) * 1.0, (1e308,))
    with pytest.raises(BadInput, match="changes out to the radius 1e"):
        Transform(far, BallLaw.of_mass(10, 0.4))
