"""The α-flow: its moments and velocity against brute-force quadrature, its course against another solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import jv

from simlab.core.errors import BadInput
from simlab.sphere.ball_law import BallLaw
from simlab.sphere.mean_relu import mean_relu
from simlab.targets.radial_function import Radial
from simlab.theory import alpha_flow
from simlab.theory._radial_moments import Moments
from simlab.theory.alpha_flow import Accuracy

Floats = NDArray[np.float64]
RELU = Radial(lambda r: np.maximum(1.0 - r, 0.0), (1.0,))
WAVY = Radial(lambda r: np.where(r < 2.0, np.cos(r), 0.25), (2.0,))
GAUSS = np.polynomial.legendre.leggauss(20)


def grid(law: BallLaw, edges: Floats) -> tuple[Floats, Floats]:
    """Radii and the weights p(r) dr on panels of 1/c about these edges; the density by scipy's Bessel function."""
    c = 2 * np.pi * law.ball_radius / law.scale
    edges = np.union1d(edges, np.arange(0.0, edges.max(), 1.0 / c))
    half = np.diff(edges)[:, np.newaxis] / 2
    r = (edges[:-1, np.newaxis] + half * (1 + GAUSS[0])).ravel()
    return r, (half * GAUSS[1]).ravel() * law.dim * jv(law.dim / 2, c * r) ** 2 / r


@pytest.mark.parametrize("dim", [2, 3, 10, 100])
@pytest.mark.parametrize("target", [RELU, WAVY])
def test_cumulative_moments(dim: int, target: Radial) -> None:
    """By quadrature to three times where the asymptotic series takes over; closed forms beyond: M_0 is the law's CDF,
    and ∫ s J² ds = s²(J_ν² − J_{ν−1}J_{ν+1})/2 (Lommel)."""
    law = BallLaw.of_mass(dim, 0.4)
    moments = Moments(law, target)
    c, nu = moments.c, dim / 2
    last = 3 * moments.S / c
    cuts = np.concatenate([[0.3, 1.0, 1.7, 2.5], np.geomspace(4.0, last, 9)])
    r, weight = grid(law, np.concatenate([cuts, target.breaks]))
    g = target.profile(r)
    found = moments.at(cuts)
    for row, integrand in zip(found, (r**0, r, r * r, g, g * r, g * g), strict=True):
        direct = np.array([np.sum((weight * integrand)[r < cut]) for cut in cuts])
        assert row == pytest.approx(direct, rel=3e-12, abs=1e-13)
    far = np.geomspace(last, 1e4 * last, 7)
    s, (M0, _, M2, T0, _, Q) = c * far, moments.at(far)
    assert pytest.approx(law.sf(far), rel=1e-6, abs=1e-13) == 1.0 - M0
    assert pytest.approx(dim / c**2 * s * s / 2 * (jv(nu, s) ** 2 - jv(nu - 1, s) * jv(nu + 1, s)), rel=1e-10) == M2
    assert np.diff(T0) == pytest.approx(target.outside * np.diff(M0), abs=1e-15)
    assert moments.total_square - Q == pytest.approx(target.outside**2 * law.sf(far), rel=1e-6, abs=1e-13)


def brute(law: BallLaw, target: Radial, alpha: float, w: Floats, b: Floats) -> tuple[float, Floats, Floats, float]:
    """α̇, ẇ, ḃ and the loss as the definitions have them; f = 0 beyond the last kink."""
    kinks = (b / (-w * alpha))[b > 0]
    end = max(*kinks, target.breaks[-1])
    r, weight = grid(law, np.concatenate([kinks, target.breaks]))
    z = np.multiply.outer(r, alpha * w) + b
    rest = target.profile(r) - np.maximum(z, 0.0).mean(axis=1)
    on = z > 0
    S2 = rest * (on @ w) / w.size
    b_dot, w_dot = (weight * rest) @ on, (weight * rest * alpha * r) @ on
    tail = target.outside**2 * float(law.sf(end))
    loss = 0.5 * (float(weight @ rest**2) + tail)
    return 4 * mean_relu(law.dim) * float(weight @ (S2 * r)) * alpha, w_dot, b_dot, loss


@pytest.mark.parametrize("dim", [2, 10, 100])
@pytest.mark.parametrize("target", [RELU, WAVY])
def test_velocity_and_loss_by_quadrature(dim: int, target: Radial) -> None:
    rng = np.random.default_rng(dim)
    law, w, b = BallLaw.of_mass(dim, 0.4), -rng.uniform(0.3, 1.5, 12), rng.uniform(-0.3, 1.5, 12)
    b[0] = 0.0
    alpha = 0.8 / dim**0.5
    rates = alpha_flow.Rates(law, target)
    grows, w_dot, b_dot = rates.velocity(alpha, w, b)
    expected = brute(law, target, alpha, w, b)
    assert alpha * grows == pytest.approx(expected[0], rel=1e-10)
    assert w_dot == pytest.approx(expected[1], rel=1e-10, abs=1e-12)
    assert b_dot == pytest.approx(expected[2], rel=1e-10, abs=1e-12)
    assert rates.loss(alpha, w, b) == pytest.approx(expected[3], rel=1e-9)
    assert np.all(w_dot[b <= 0] == 0)
    assert np.all(b_dot[b <= 0] == 0)


def test_the_course_is_that_of_another_solver_on_quadrature() -> None:
    law, alpha0, times = BallLaw.of_mass(5, 0.4), 0.4, np.array([0.0, 0.5, 2.0, 6.0])
    w, b = np.array([-0.6, -1.0, -1.4]), np.array([0.7, 1.4, 1.0])

    def rate(t: float, state: Floats) -> Floats:
        a_dot, w_dot, b_dot, _ = brute(law, RELU, state[0], state[1:4], state[4:])
        return np.concatenate([[a_dot], w_dot, b_dot])

    other = solve_ivp(rate, (0, 6), [alpha0, *w, *b], "LSODA", t_eval=times, rtol=1e-9, atol=1e-11).y.T
    course = alpha_flow.solve(law, RELU, alpha0, w, b, times)
    assert course.alpha == pytest.approx(other[:, 0], rel=1e-6)
    assert np.allclose(np.hstack([course.w, course.b]), other[:, 1:], rtol=1e-6, atol=0)
    expected = [brute(law, RELU, s[0], s[1:4], s[4:])[3] for s in other]
    assert course.loss == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("trained", ["both", "first", "second"])
def test_the_loss_falls_by_the_squares_of_the_velocities(trained: alpha_flow.Trained) -> None:
    """−dR/dt = (1/m₂) Σ (ẇ² + ḃ²) + α̇²/(4 (C_Γ/√d) α): each layer descends on the same loss."""
    rng = np.random.default_rng(1)
    law, w, b = BallLaw.of_mass(10, 0.4), -rng.uniform(0.5, 1.5, 20), rng.uniform(0.5, 1.5, 20)
    h = 1e-3
    course = alpha_flow.solve(law, RELU, 0.15, w, b, [0.0, 1 - h, 1.0, 1 + h, 5.0, 20.0], trained, Accuracy(rtol=1e-10))
    assert np.all(np.diff(course.loss) < 0)
    grows, w_dot, b_dot = alpha_flow.Rates(law, RELU).velocity(float(course.alpha[2]), course.w[2], course.b[2])
    second, first = np.mean(w_dot**2 + b_dot**2), course.alpha[2] * grows**2 / (4 * mean_relu(10))
    falls = {"both": first + second, "first": first, "second": second}[trained]
    assert (course.loss[1] - course.loss[3]) / (2 * h) == pytest.approx(falls, rel=1e-5)
    assert bool(np.ptp(course.alpha) == 0) is (trained == "second")
    assert bool(np.all(course.w == w)) is (trained == "first")


def test_errors_fall_with_the_tolerance() -> None:
    rng = np.random.default_rng(2)
    law, w, b = BallLaw.of_mass(3, 0.4), -rng.uniform(0.5, 1.5, 10), rng.uniform(0.5, 1.5, 10)
    alphas = [
        alpha_flow.solve(law, RELU, 0.25, w, b, [30.0], accuracy=Accuracy(t, t)).alpha[0] for t in (1e-4, 1e-8, 1e-12)
    ]
    assert abs(alphas[1] - alphas[2]) < 1e-6
    assert abs(alphas[1] - alphas[2]) < 0.02 * abs(alphas[0] - alphas[2])


def test_the_target_itself_stays() -> None:
    """w = −1, b = 1, α = 1 is ReLU(1 − ‖x‖), beside a dead neuron's half: f = ½(2 − 2r)₊."""
    law = BallLaw.of_mass(4, 0.4)
    for w, b in (([-1.0], [1.0]), ([-2.0, -1.0], [2.0, -0.5])):
        course = alpha_flow.solve(law, RELU, 1.0, w, b, [0.0, 0.0, 7.0])
        assert course.alpha == pytest.approx([1.0] * 3, rel=1e-12)
        assert np.allclose(course.w, w, rtol=1e-12, atol=0)
        assert np.allclose(course.b, b, rtol=1e-12, atol=0)
        assert np.all(course.loss < 1e-15)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"w": [-1.0, 0.5]}, r"w = 0\.5: must be less than 0: others have infinite risk under the 1/r tail"),
        ({"w": [-1.0, 0.0]}, r"w = 0: must be less than 0"),
        ({"w": [-1.0]}, "b: 2 numbers; must be 1, one per neuron as w has"),
        ({"w": [[-1.0, -1.0]]}, r"w has shape \(1, 2\): must be a vector"),
        ({"b": [1.0, np.nan]}, r"b\[1\] = nan: must be finite"),
        ({"alpha0": 0.0}, r"alpha0 = 0\.0: must be greater than 0"),
        ({"alpha0": np.inf}, "alpha0 = inf: must be finite and greater than 0"),
        ({"times": [0.0, 2.0, 1.0]}, "times: from 0 to 1; must be 0 or greater and never decrease"),
        ({"times": [-1.0, 2.0]}, "times: from -1 to 2; must be 0 or greater"),
        ({"times": []}, r"times has shape \(0,\): must have one entry or more"),
        ({"target": Radial(RELU.profile, (1.0, 1e6))}, r"target: its last break is at r = 1e\+06; must be at most"),
        (
            {
                "target": Radial(lambda r: 1.0 * (r > 1), (1.0,)),
                "w": [-0.02],
                "b": [0.1],
                "times": [1.0],
                "accuracy": Accuracy(1e-4),
            },
            r"w: a neuron comes to w = 0 at time .*, of infinite risk beyond",
        ),
    ],
)
def test_what_has_no_course_is_refused(changed: dict[str, object], says: str) -> None:
    given = {"target": RELU, "alpha0": 0.3, "w": [-1.0, -0.5], "b": [1.0, 0.4], "times": [0.0, 1.0]} | changed
    with pytest.raises(BadInput, match=says):
        alpha_flow.solve(BallLaw.of_mass(3, 0.4), **given)  # type: ignore[arg-type]


def test_what_would_take_for_ever_or_cannot_be_resolved_is_refused() -> None:
    law, relu = BallLaw.of_mass(3, 0.4), Radial(lambda r: np.maximum(1.0 - r, 0.0), (1.0,))
    with pytest.raises(BadInput, match="more than 50 evaluations"):
        alpha_flow.solve(law, relu, 0.3, [-1.0, -0.5], [1.0, 0.7], [0.0, 100.0], accuracy=Accuracy(most=50))
    jump = Radial(lambda r: np.where(r < 0.3217, 1.0, np.where(r < 1.0, -1.0, 0.0)), (1.0,))
    with pytest.raises(BadInput, match="not smooth between its breaks"):
        alpha_flow.solve(law, jump, 0.3, [-1.0], [1.0], [0.0, 1.0])
