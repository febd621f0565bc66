"""`simlab.activations.check`: does an activation keep its contract? By integrals and differences of its own φ.

E f(z)f(z') is found here by Gauss–Legendre panels split at the kinks, independently of the kind's `variance` and
`dual`. This is for a φ that varies on the scale 1, as the quadratures of simlab take for granted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from simlab.activations.activation import Activation
from simlab.core.checking import check_value, ensure

Floats = NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
REACH = 13.0  # of the integrals, in standard deviations
INNER = 5.0  # an edge of panels, in standard deviations, so that the normal density is resolved
POINTS = (-3.1, -1.0, -0.3, 0.2, 1.7, 2.9)  # z at which φ is compared
CASES = ((1.0, 1.0, 0.3), (0.6, 2.0, -0.7), (1.5, 0.2, 0.95), (1.0, 1.0, -0.99))  # (q, p, u)
ARB_BITS = 300
LARGE_VARIANCE = 1e150  # above it Ḟ may overflow


def check(activation: Activation, tolerance: float = 1e-10, slope_tolerance: float = 1e-8) -> None:
    """Raise AssertionError, with one line that says what is wrong, if the activation breaks the contract.

    tolerance: largest error of τ and σ by integration; twice the relative error of E φ², ten times that against Arb.
    slope_tolerance: largest relative error of Ḟ by integration; ten times that against Arb.
    """
    check_value(activation, Activation)
    _check_values(activation)
    _check_shape(activation)
    _check_duals(activation, tolerance, slope_tolerance)
    _check_extremes(activation)
    if activation.has_arb:
        _check_arb(activation, 0.1 * tolerance, 0.1 * slope_tolerance)
    _check_series(activation)


def _near(got: float, wanted: float, relative: float, absolute: float = 0.0) -> bool:
    return bool(abs(got - wanted) <= max(relative * abs(wanted), absolute)) or got == wanted


def _check_values(activation: Activation) -> None:
    """φ' is the derivative of φ, and the loops over arrays agree with both."""
    phi, dphi, _, _ = activation.compiled()
    a, h = activation.numbers(), 1e-5
    ensure(a.dtype == np.float64 and a.ndim == 1, f"{activation!r}: numbers() must be a float64 vector, not {a!r}")
    for z in POINTS:
        if all(abs(z - k) > h for k in activation.kink_points()):
            difference = (phi(z + h, a) - phi(z - h, a)) / (2 * h)
            ensure(
                _near(dphi(z, a), difference, 2e-8, 1e-8),
                f"{activation!r}: φ'({z}) = {dphi(z, a)}, but a difference of φ gives {difference}",
            )
    Z = np.array(POINTS).reshape(2, 3)
    values, slopes = activation.both(Z)
    for loop, got, function in (
        ("act(Z)", activation(Z), phi),
        ("derivative(Z)", activation.derivative(Z), dphi),
        ("both(Z)[0]", values, phi),
        ("both(Z)[1]", slopes, dphi),
    ):
        wanted = np.array([function(z, a) for z in POINTS]).reshape(2, 3)
        ensure(np.allclose(got, wanted, rtol=1e-14, atol=0.0), f"{activation!r}: {loop} = {got}, φ itself {wanted}")


def _check_shape(activation: Activation) -> None:
    """The facts about φ."""
    phi, a = activation.compiled().phi, activation.numbers()
    name, kinks = repr(activation), activation.kink_points()
    if (h := activation.homogeneity()) is not None:
        for z in (-2.0, -0.7, 0.4, 1.9):
            ensure(_near(phi(3 * z, a), 3**h * phi(z, a), 1e-14), f"{name}: φ is not homogeneous of degree {h} at {z}")
    if (degree := activation.polynomial_degree()) is not None:
        x = np.linspace(-2.0, 2.0, 40)
        y = np.array([phi(z, a) for z in x])
        for n in {degree, max(degree - 1, 0)}:
            residual = np.abs(np.polynomial.Polynomial.fit(x, y, n)(x) - y).max() / np.abs(y).max()
            ensure((residual < 1e-13) == (n >= degree), f"{name}: φ is not a polynomial of degree {degree}")
    for k in kinks:
        jump = abs(phi(k + 1e-12, a) - phi(k - 1e-12, a))
        ensure(jump < 1e-6 or activation.jumps(), f"{name}: φ jumps by {jump:.3g} at {k}, and jumps() says no")
    ensure(kinks or not activation.jumps(), f"{name}: jumps() says yes, but kink_points() is empty")
    for z in (0.0, *POINTS) if not kinks else ():
        second = abs(phi(z + 1e-3, a) - 2 * phi(z, a) + phi(z - 1e-3, a))
        ensure(second < 5e-4 * (1 + abs(phi(z, a))), f"{name}: φ has a kink near {z} that is not in kink_points()")
    if activation.bounded:
        ensure(abs(phi(1e6, a)) <= 100 and abs(phi(-1e6, a)) <= 100, f"{name}: φ(±10⁶) is large; it is not bounded")
    if (shift := activation.relu_shift()) is not None:
        ensure(all(phi(z, a) == max(z + shift, 0.0) for z in POINTS), f"{name}: φ is not max(z + {shift}, 0)")
    if (order := activation.arc_cosine_order()) is not None:
        same = all(phi(z, a) == (z**order if z > 0 else 0.0) for z in POINTS)
        ensure(same, f"{name}: φ is not z^{order} for z > 0 and 0 elsewhere")


def _check_duals(activation: Activation, tolerance: float, slope_tolerance: float) -> None:
    """variance and dual are the Gaussian expectations of φφ' and its like."""
    phi, dphi, variance, dual = activation.compiled()
    a, kinks, name = activation.numbers(), activation.kink_points(), repr(activation)
    for q, p, u in CASES:
        A, B = variance(q, a), variance(p, a)
        for got, size in ((A, q), (B, p)):
            wanted = _second_moment(lambda z: phi(z, a), size, kinks)
            ensure(_near(got, wanted, 0.5 * tolerance), f"{name}: variance({size}) = {got}, E φ² = {wanted}")
        tau, sigma, slope = dual(q, p, A, B, 1 - u, 1 + u, a)
        correlation = _expectation(lambda z: phi(z, a), q, p, u, kinks) / math.sqrt(A * B)
        where = f"at q, p, u = {q}, {p}, {u}"
        for letter, got, wanted in (("τ", tau, 1 - correlation), ("σ", sigma, 1 + correlation)):
            ensure(_near(got, wanted, 0.0, tolerance), f"{name}: {letter} = {got} {where}, by integration {wanted}")
        if not activation.jumps():
            wanted = _expectation(lambda z: dphi(z, a), q, p, u, kinks)
            near = _near(slope, wanted, slope_tolerance, 0.1 * slope_tolerance)
            ensure(near, f"{name}: Ḟ = {slope} {where}, by integration {wanted}")


def _check_extremes(activation: Activation) -> None:
    """The diagonal is exact, and nothing is NaN or out of range however large or small the variances."""
    _, _, variance, dual = activation.compiled()
    a, name = activation.numbers(), repr(activation)
    for q, p in itertools.product((0.0, 1e-6, 0.3, 1.0, 40.0, 1e6), repeat=2):
        A, B = variance(q, a), variance(p, a)
        ensure(A >= 0 and B >= 0, f"{name}: variance({q}) = {A} and variance({p}) = {B}; must be 0 or more")
        for t, s in ((0.0, 2.0), (1e-12, 2.0 - 1e-12), (0.7, 1.3), (2.0, 0.0)):
            where = f"at q, p, t = {q}, {p}, {t}"
            tau, sigma, slope = dual(q, p, A, B, t, s, a)
            for letter, got in (("τ", tau), ("σ", sigma)):
                ensure(0 <= got <= 2 * (1 + 1e-15), f"{name}: {letter} = {got} {where}; must be from 0 to 2")
            ensure(abs(tau + sigma - 2) <= 1e-14, f"{name}: τ + σ = {tau + sigma} {where}; must be 2")
            ensure(not math.isnan(slope), f"{name}: Ḟ is NaN {where}")
            if A == 0 or B == 0:
                ensure((tau, sigma) == (1.0, 1.0), f"{name}: τ, σ = {tau}, {sigma} {where}, E φ² = 0; must be 1, 1")
            elif q == p and t == 0:
                ensure(tau == 0 and sigma == 2, f"{name}: τ, σ = {tau}, {sigma} {where}; must be exactly 0, 2")
                infinite = slope == math.inf
                ensure(infinite == activation.jumps() or max(A, B) > LARGE_VARIANCE, f"{name}: Ḟ = {slope} {where}")


def _check_arb(activation: Activation, tolerance: float, slope_tolerance: float) -> None:
    """`arb_dual` agrees with the float64 functions, and its Ḟ is ∂F/∂(qu)."""
    _, _, variance, dual = activation.compiled()
    a, name = activation.numbers(), repr(activation)
    with ctx.workprec(ARB_BITS):
        us = [arb(u) for u in (1, -1, 0.75, -0.5, 0)]
        for q in (0.3, 1.0):
            F, slopes = activation.arb_dual(arb(q), us, True)
            ensure(not activation.arb_dual(arb(q), us, False)[1], f"{name}: arb_dual without tangent gives Ḟ's")
            A = variance(q, a)
            ensure(_near(float(F[0]), A, tolerance), f"{name}: arb_dual gives F(1) = {float(F[0])}, variance {A}")
            for u, f, slope in zip(us, F, slopes, strict=True):
                where = f"at q, u = {q}, {float(u)}"
                tau, sigma, float_slope = dual(q, q, A, A, float(1 - u), float(1 + u), a)
                for letter, got, exact in (("τ", tau, 1 - f / F[0]), ("σ", sigma, 1 + f / F[0])):
                    near = _near(got, float(exact), 0.0, tolerance)
                    ensure(near, f"{name}: {letter} = {got} {where}, by arb_dual {float(exact)}")
                near = _near(float_slope, float(slope), slope_tolerance, slope_tolerance)
                ensure(near, f"{name}: Ḟ = {float_slope} {where}, not {slope}")
                if abs(u) < 1:
                    h = arb(2) ** -60
                    (above, below), _ = activation.arb_dual(arb(q), [u + h, u - h], False)
                    near = _near(float((above - below) / (2 * h * q)), float(slope), 1e-15, 1e-30)
                    ensure(near, f"{name}: Ḟ of arb_dual is not ∂F/∂(qu) {where}")


def _check_series(activation: Activation) -> None:
    """|c_0| = |φ(0)|, |c_1| = |φ'(0)|, |c_2| = |φ''(0)|/2."""
    if activation.taylor_radius is None:
        return
    phi, dphi, _, _ = activation.compiled()
    a, h = activation.numbers(), 1e-4
    second = (dphi(h, a) - dphi(-h, a)) / (4 * h)
    for i, (wanted, digits) in enumerate(((phi(0.0, a), 1e-14), (dphi(0.0, a), 1e-14), (second, 1e-6))):
        got = float(activation.taylor_size(i))
        ensure(_near(got, abs(wanted), digits, digits), f"{activation!r}: taylor_size({i}) = {got}, of φ {abs(wanted)}")


def _panels(edges: Sequence[Floats | float]) -> tuple[Floats, Floats]:
    """Nodes and weights on the panels between consecutive edges (each a number, or an array of them)."""
    xs, ws = [], []
    for left, right in itertools.pairwise(edges):
        half, mid = (np.asarray(right) - left) / 2, (np.asarray(right) + left) / 2
        xs.append(mid[..., None] + half[..., None] * NODES)
        ws.append(half[..., None] * WEIGHTS)
    return np.concatenate(xs, axis=-1), np.concatenate(ws, axis=-1)


def _each(f: Callable[[float], float], z: Floats) -> Floats:
    return np.array([f(value) for value in z.flat]).reshape(z.shape)


def _second_moment(f: Callable[[float], float], q: float, kinks: Sequence[float]) -> float:
    """E f(z)², z of variance q"""
    edges = {-REACH, -INNER, 0.0, INNER, REACH, *(k / math.sqrt(q) for k in kinks)}
    x, w = _panels(sorted(edge for edge in edges if abs(edge) <= REACH))
    return float(np.sum(w * np.exp(-(x**2) / 2) * _each(f, math.sqrt(q) * x) ** 2) / math.sqrt(2 * math.pi))


def _expectation(f: Callable[[float], float], q: float, p: float, u: float, kinks: Sequence[float]) -> float:
    """E f(z)f(z') by panels in x and y, z = √q x, z' = √p(ux + vy), split at the kinks of both."""
    v = math.sqrt(1 - u * u)
    breaks = {0.0, *(k / math.sqrt(q) for k in kinks), *(k / (math.sqrt(p) * u) for k in kinks)}
    x, wx = _panels(sorted(edge for edge in {-REACH, -INNER, INNER, REACH, *breaks} if abs(edge) <= REACH))
    inside = 0.99 * REACH
    splits = [np.clip((k / math.sqrt(p) - u * x) / v, -inside, inside) for k in sorted({0.0, *kinks})]
    low, high = np.full_like(x, -REACH), np.full_like(x, REACH)
    y, wy = _panels([low, (low + splits[0]) / 2, *splits, (splits[-1] + high) / 2, high])
    inner = np.sum(wy * np.exp(-(y**2) / 2) * _each(f, math.sqrt(p) * (u * x[:, None] + v * y)), axis=-1)
    return float(np.sum(wx * np.exp(-(x**2) / 2) * _each(f, math.sqrt(q) * x) * inner) / (2 * np.pi))
