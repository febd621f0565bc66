"""The dimension-free dynamics: expectations by Monte Carlo, gradients by differences, zeros bit by bit."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from simlab import activations
from simlab.activations.activation import Activation
from simlab.core.errors import BadInput
from simlab.theory import dimension_free as free
from simlab.theory import leap

Floats = NDArray[np.float64]
RELU = activations.get("shifted", shift=1.0)
TANH = activations.get("shifted", of="tanh", shift=0.5)
STAIRS = leap.values([(0,), (0, 1), (0, 1, 2)], 3)


def sigma(activation: Activation, x: Floats) -> tuple[Floats, Floats]:
    if activation == TANH:
        return np.tanh(x + 0.5), 1.0 - np.tanh(x + 0.5) ** 2
    shift = {RELU: 1.0}.get(activation, 0.0)
    return np.maximum(x + shift, 0.0), np.heaviside(x + shift, 0.5)


def some(m: int = 6, count: int = 3, seed: int = 1) -> free.Particles:
    rng = np.random.default_rng(seed)
    return free.Particles(rng.standard_normal(m), rng.standard_normal((m, count)), rng.uniform(0.3, 1.5, m))


@pytest.mark.parametrize("activation", [activations.get("relu"), RELU, TANH, activations.get("erf")])
def test_expectations_over_g_by_monte_carlo(activation: Activation) -> None:
    """Within 5 standard errors over 10⁵ draws, for a negative s too."""
    p = some(2)
    s = np.array([0.8, -1.1])
    means = free.Rates(activation, STAIRS).means(p.u, s)
    G = np.random.default_rng(2).standard_normal(100_000)

    for i in range(2):
        for k, z in enumerate(leap.points(3)):
            x = p.u[i] @ z + s[i] * G
            own = sigma(activation, x) if activation in (RELU, TANH) else None
            f, df = own if own else (activation(x), activation.derivative(x))
            for found, sample in zip(means, (f, df, df * G), strict=True):
                assert abs(found[i, k] - sample.mean()) < 5 * sample.std() / np.sqrt(G.size) + 1e-12


@pytest.mark.parametrize(("size", "error"), [(0.5, 1e-14), (1.0, 1e-13), (2.0, 1e-6)])
def test_nodes_are_enough(size: float, error: float) -> None:
    """Against scipy's adaptive quadrature, for s = size."""
    p = some(3)
    means = free.Rates(TANH, STAIRS).means(p.u, np.full(3, size))

    def integral(f: Any) -> float:
        return float(quad(lambda g: f(g) * np.exp(-g * g / 2) / np.sqrt(2 * np.pi), -9, 9, epsabs=1e-14, limit=500)[0])

    for i, z in itertools.product(range(3), leap.points(3)[::3]):
        k = int(sum(1 << j for j in range(3) if z[j] < 0))
        at = lambda g, x=p.u[i] @ z: sigma(TANH, x + size * g)  # noqa: E731
        expected = [integral(f) for f in (lambda g: at(g)[0], lambda g: at(g)[1], lambda g: at(g)[1] * g)]  # noqa: B023
        assert [mean[i, k] for mean in means] == pytest.approx(expected, abs=error)


def test_without_noise_a_relu_is_itself() -> None:
    p = some(4)
    x = p.u @ leap.points(3).T + 1.0
    H, D, K = free.Rates(RELU, STAIRS).means(p.u, np.zeros(4))
    assert pytest.approx(np.maximum(x, 0.0), abs=1e-15) == H
    assert np.array_equal(D, 1.0 * (x > 0))
    assert not K.any()


@pytest.mark.parametrize("activation", [RELU, TANH])
def test_the_velocity_is_the_gradient_of_the_risk(activation: Activation) -> None:
    """−m ∂R/∂(a, u, s) by central differences."""
    rates, p = free.Rates(activation, STAIRS), some()
    velocity, _ = rates.velocity(p)
    state, h = free.packed(p), 1e-5
    expected = np.empty_like(state)
    for i in range(state.size):
        around = []
        for sign in (1, -1):
            moved = state.copy()
            moved[i] += sign * h
            around.append(rates.risk(rates.velocity(free.unpacked(moved, 3))[1]))
        expected[i] = -p.a.size * (around[0] - around[1]) / (2 * h)
    assert free.packed(velocity) == pytest.approx(expected, rel=1e-7, abs=1e-8)


def naive(activation: Activation, target: Floats, p: free.Particles) -> tuple[Floats, Floats, Floats]:
    """The three velocities as the definitions have them, by Gauss–Hermite."""
    z = leap.points(int(np.log2(target.size)))
    G, w = np.polynomial.hermite_e.hermegauss(100)
    w /= w.sum()
    f, df = sigma(activation, (p.u @ z.T)[:, :, None] + p.s[:, None, None] * G)
    H, D, K = f @ w, df @ w, (df * G) @ w
    e = p.a @ H / p.a.size - target
    return -(H @ e) / e.size, -p.a[:, None] * ((D * e) @ z) / e.size, -p.a * (K @ e) / e.size


def test_the_course_is_that_of_plain_euler_steps() -> None:
    """Euler's error is of order h: with Richardson's extrapolation of two h it is 1e-4 and less."""
    start = free.begin(free.spread(6, 2.0), 3)
    ends = []
    for h in (0.02, 0.01):
        p = start
        for _ in range(round(3.0 / h)):
            da, du, ds = naive(TANH, STAIRS, p)
            p = free.Particles(p.a + h * da, p.u + h * du, p.s + h * ds)
        ends.append(free.packed(p))
    rates = free.Rates(TANH, STAIRS)
    course = free.solve(rates, start, [0.0, 3.0])
    assert free.packed(course.end) == pytest.approx(2 * ends[1] - ends[0], abs=2e-4)
    by_steps = free.solve(rates, start, [0.0, 1.0, 3.0], step=0.05)
    assert free.packed(by_steps.end) == pytest.approx(free.packed(course.end), abs=1e-6)


def test_steps_of_order_four() -> None:
    rates, start = free.Rates(TANH, STAIRS, 32), free.begin(free.spread(4, 2.0), 3)
    exact = free.packed(free.solve(rates, start, [2.0], rtol=1e-12, atol=1e-13).end)
    errors = [np.abs(free.packed(free.solve(rates, start, [2.0], h).end) - exact).max() for h in (0.4, 0.2, 0.1)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.5)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.4)


@pytest.mark.parametrize("activation", [RELU, TANH])
def test_the_risk_falls_by_the_mean_square_velocity(activation: Activation) -> None:
    rates, h = free.Rates(activation, STAIRS), 1e-3
    course = free.solve(rates, free.begin(free.spread(10), 3), [1.0 - h, 1.0, 1.0 + h])
    middle = free.solve(rates, free.begin(free.spread(10), 3), [1.0]).end
    velocity, f = rates.velocity(middle)
    assert rates.risk(f) == pytest.approx(course.risk[1], rel=1e-9)
    falls = np.mean(velocity.a**2 + (velocity.u**2).sum(axis=1) + velocity.s**2)
    assert (course.risk[0] - course.risk[2]) / (2 * h) == pytest.approx(falls, rel=1e-5)


@pytest.mark.parametrize(
    ("terms", "activation", "free_coordinates"),
    [
        ([(0,), (0, 1, 2)], RELU, [1, 2]),
        ([(0, 1, 2)], RELU, [0, 1, 2]),
        ([(0,), (0, 1, 2)], TANH, [1, 2]),
        ({(0,): 0.3, (1, 2): 0.7, (0, 3, 4): -0.1}, RELU, [1, 2, 3, 4]),
    ],
)
def test_zeros_stay_exactly_zero(terms: Any, activation: Activation, free_coordinates: list[int]) -> None:
    """At t = 300, where a rounding error of 1e-17 would have been of order 1 long before."""
    count = 1 + max(map(max, terms))
    rates = free.Rates(activation, leap.values(terms, count), 24)
    start = free.begin(np.random.default_rng(3).standard_normal(12), count)
    course = free.solve(rates, start, [0.0, 300.0], 0.25 if activation == RELU else None, rtol=1e-6)
    assert np.all(course.end.u[:, free_coordinates] == 0.0)
    perturbed = free.Particles(start.a, start.u + 1e-6, start.s)
    if activation == RELU and len(free_coordinates) == 2:
        assert free.solve(rates, perturbed, [100.0], 0.25).risk[-1] < 0.5 * course.risk[-1]  # invariant but unstable


def test_a_merged_staircase_is_learned_and_others_stall() -> None:
    times = [0.0, 20.0, 60.0]
    learned = free.solve(free.Rates(RELU, STAIRS), free.begin(free.spread(20, 2.0), 3), times, 0.1)
    assert learned.risk[-1] < 0.02
    assert learned.coefficients[-1][[1, 3, 7]] == pytest.approx([1.0, 1.0, 1.0], abs=0.25)
    stalled = free.solve(
        free.Rates(RELU, leap.values([(0,), (0, 1, 2)], 3)), free.begin(free.spread(20), 3), times, 0.1
    )
    assert stalled.risk[-1] == pytest.approx(0.5, abs=1e-6)
    assert stalled.coefficients[-1][7] == 0.0


def test_an_odd_activation_and_a_relu_without_shift_do_not_learn_even_and_odd_products() -> None:
    """tanh has no z₁z₂ in f while u = 0; a ReLU's odd part is linear in u·z, and cannot make z₁z₂z₃."""
    start = free.begin(free.spread(8, 2.0), 2)
    course = free.solve(free.Rates(activations.get("tanh"), leap.values([(0, 1)], 2), 24), start, [0.0, 10.0])
    assert course.risk[-1] == pytest.approx(0.5, abs=1e-12)
    course = free.solve(free.Rates(activations.get("relu"), STAIRS), free.begin(free.spread(8, 2.0), 3), [30.0], 0.1)
    assert course.coefficients[-1][7] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"times": []}, r"times has shape \(0,\)"),
        ({"times": [2.0, 1.0]}, "times: from 2 to 1; must be 0 or greater and never decrease"),
        ({"times": [np.inf]}, r"times\[0\] = inf: must be finite"),
        ({"step": 0.0}, r"step = 0\.0: must be greater than 0"),
        ({"most": 30, "times": [0.0, 50.0]}, "more than 30 evaluations to 50; shorten it, or give a step"),
        ({"start": replace(free.begin([1.0, 2.0], 3), a=[1.0, np.nan])}, r"a\[1\] = nan: must be finite"),
        ({"start": free.begin([1.0], 2)}, r"u has shape \(1, 2\): must be \(1, 3\)"),
    ],
)
def test_what_has_no_course_is_refused(changed: dict[str, Any], says: str) -> None:
    given = {"start": free.begin([1.0, -1.0], 3), "times": [0.0, 1.0]} | changed
    with pytest.raises(BadInput, match=says):
        free.solve(free.Rates(RELU, STAIRS), **given)


def test_what_has_no_rates_is_refused() -> None:
    with pytest.raises(BadInput, match=r"activation = 'abs': it has kinks"):
        free.Rates(activations.get("abs"), STAIRS)
    with pytest.raises(BadInput, match=r"power of two"):
        free.Rates(RELU, np.ones(5))
    with pytest.raises(BadInput, match=r"P = 13: must be from 0 to 12"):
        free.Rates(RELU, np.ones(1 << 13))
    with pytest.raises(BadInput, match=r"nodes = 1: "):
        free.Rates(TANH, STAIRS, 1)
    with pytest.raises(BadInput, match=r"a has shape \(0,\)"):
        free.begin([], 3)
