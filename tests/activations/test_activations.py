"""Every activation against an independent definition of φ, a quadrature of its own, Arb, and Monte Carlo."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special

from simlab import activations
from simlab.activations import Activation
from simlab.core import catalogue
from simlab.core.errors import BadInput, SimlabError

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

pytestmark = pytest.mark.usefixtures("allow_code")
KINDS = catalogue.all_examples("activations")
BY_QUADRATURE = ("tanh", "softplus", "custom", "shifted")
CLOSED = [(kind, fields) for kind, fields in KINDS if kind not in BY_QUADRATURE]
IN_ARB = [(kind, fields) for kind, fields in KINDS if catalogue.get("activations", kind).has_arb]
KINKED = [("leaky_relu", {"slope": 0.3}), ("leaky_relu", {"slope": -2.0}), ("leaky_relu", {"slope": 1.0}),
          ("relu", {}), ("abs", {}), ("step", {}), ("sign", {})]  # fmt: skip
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def definition(activation: Any) -> tuple[Function, Function]:
    """φ and φ' in NumPy, written down independently of the package."""
    n = getattr(activation, "degree", 0)
    density = lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    slope = getattr(activation, "slope", 0.0)
    shift, kinked = getattr(activation, "shift", 0.0), getattr(activation, "of", "") == "relu"
    hermite = [lambda z, k=k: special.eval_hermitenorm(k, z) / math.sqrt(math.factorial(k)) for k in (n, max(n - 1, 0))]
    return {
        "relu": (lambda z: np.maximum(z, 0.0), lambda z: np.heaviside(z, 0.0)),
        "leaky_relu": (lambda z: np.where(z > 0, z, slope * z), lambda z: np.where(z > 0, 1.0, slope)),
        "abs": (np.abs, np.sign),
        "step": (lambda z: np.heaviside(z, 0.0), np.zeros_like),
        "sign": (np.sign, np.zeros_like),
        "erf": (special.erf, lambda z: 2 / np.sqrt(np.pi) * np.exp(-(z**2))),
        "gelu": (lambda z: z * special.ndtr(z), lambda z: special.ndtr(z) + z * density(z)),
        "sin": (np.sin, np.cos),
        "cos": (np.cos, lambda z: -np.sin(z)),
        "exp": (np.exp, np.exp),
        "gaussian": (lambda z: np.exp(-(z**2)), lambda z: -2 * z * np.exp(-(z**2))),
        "monomial": (lambda z: z**n, lambda z: n * z ** max(n - 1, 0)),
        "hermite": (hermite[0], lambda z: math.sqrt(n) * hermite[1](z)),
        "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
        "softplus": (lambda z: np.logaddexp(0.0, z), special.expit),
        "shifted": (lambda z: np.maximum(z + shift, 0.0), lambda z: np.heaviside(z + shift, 0.0))
        if kinked
        else (lambda z: np.tanh(z + shift), lambda z: 1 - np.tanh(z + shift) ** 2),
        "custom": (np.tanh, lambda z: 1 - np.tanh(z) ** 2)
        if getattr(activation, "phi", "") == "numpy:tanh"
        else (np.abs, np.sign),
    }[activation.kind]  # fmt: skip


def panels(edges: list[Floats | float]) -> tuple[Floats, Floats]:
    """Nodes and weights on the panels between consecutive edges (each a number, or an array of them)."""
    xs, ws = [], []
    for left, right in itertools.pairwise(edges):
        half, mid = (np.asarray(right) - left) / 2, (np.asarray(right) + left) / 2
        xs.append(mid[..., None] + half[..., None] * NODES)
        ws.append(half[..., None] * WEIGHTS)
    return np.concatenate(xs, axis=-1), np.concatenate(ws, axis=-1)


def expectation(f: Function, q: float, p: float, u: float, at: float = 0.0) -> float:
    """E f(z)f(z') by Gauss–Legendre in x and y, split at z = at and z' = at, a kink: for f of scale 1."""
    v = math.sqrt(1 - u * u)
    x, wx = panels(sorted({-13.0, -5.0, at / math.sqrt(q), at / (math.sqrt(p) * u), 5.0, 13.0}))
    kink = np.clip((at / math.sqrt(p) - u * x) / v, -12.9, 12.9)
    low, high = np.full_like(x, -13.0), np.full_like(x, 13.0)
    y, wy = panels([low, (low + kink) / 2, kink, (kink + high) / 2, high])
    inner = np.sum(wy * np.exp(-(y**2) / 2) * f(math.sqrt(p) * (u * x[:, None] + v * y)), axis=-1)
    return float(np.sum(wx * np.exp(-(x**2) / 2) * f(math.sqrt(q) * x) * inner) / (2 * np.pi))


def parts(kind: str, fields: dict[str, Any]) -> tuple[Activation, Floats, tuple[Any, ...]]:
    phi = activations.get(kind, **fields)
    return phi, phi.numbers(), phi.compiled()


def in_arb(activation: Activation, q: float | arb, t: float, near_minus: bool = False) -> tuple[float, float]:
    """(1 − F/A, 1 + F/A) at u = 1 − t (or −1 + t), t exact"""
    u = arb(t) - 1 if near_minus else 1 - arb(t)
    (one, F), _ = activation.arb_dual(arb(q), [arb(1), u], False)
    return float(1 - F / one), float(1 + F / one)


def with_digits(test: Callable[..., None]) -> Callable[..., None]:
    """At 300 bits of Arb, the context's precision put back."""

    def run(*args: Any, **fields: Any) -> None:
        with flint.ctx.workprec(300):
            test(*args, **fields)

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    run.__wrapped__ = test  # type: ignore[attr-defined]
    return run


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_the_contract(kind: str, fields: dict[str, Any]) -> None:
    activations.check(activations.get(kind, **fields))


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_phi_and_its_derivative(kind: str, fields: dict[str, Any]) -> None:
    activation, a, (phi, dphi, _, _) = parts(kind, fields)
    f, df = definition(activation)
    for z in (-3.1, -1.0, -0.3, 0.2, 1.7, 2.9):
        assert phi(z, a) == pytest.approx(float(f(np.array(z))), rel=1e-14, abs=1e-14)
        assert dphi(z, a) == pytest.approx(float(df(np.array(z))), rel=1e-9, abs=1e-11)
        h = 1e-5
        if all(abs(z - k) > h for k in activation.kink_points()):
            assert dphi(z, a) == pytest.approx((phi(z + h, a) - phi(z - h, a)) / (2 * h), rel=2e-8, abs=1e-8)


@pytest.mark.parametrize(("q", "p", "u"), [(1.0, 1.0, 0.3), (0.6, 2.0, -0.7), (1.5, 0.2, 0.95), (1.0, 1.0, -0.99)])
@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_dual_is_the_integral(kind: str, fields: dict[str, Any], q: float, p: float, u: float) -> None:
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    f, df = definition(activation)
    A, B = variance(q, a), variance(p, a)
    kink = (*activation.kink_points(), 0.0)[0]
    for got, size in ((A, q), (B, p)):
        x, w = panels([-13.0, -5.0, kink / math.sqrt(size), 5.0, 13.0])
        wanted = np.sum(w * np.exp(-(x**2) / 2) * f(math.sqrt(size) * x) ** 2) / math.sqrt(2 * math.pi)
        assert got == pytest.approx(wanted, rel=1e-13)
    tau, sigma, slope = dual(q, p, A, B, 1 - u, 1 + u, a)
    correlation = expectation(f, q, p, u, kink) / math.sqrt(A * B)
    assert tau == pytest.approx(1 - correlation, abs=2e-13)
    assert sigma == pytest.approx(1 + correlation, abs=2e-13)
    if not activation.jumps():
        assert slope == pytest.approx(
            expectation(df, q, p, u, kink), rel=2e-11 if kind == "custom" else 1e-12, abs=1e-13
        )


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_variance_is_the_dual_on_the_diagonal(kind: str, fields: dict[str, Any]) -> None:
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    for q in (1e-6, 0.3, 1.0, 40.0, 1e6):
        A = variance(q, a)
        if math.isfinite(A):
            tau, sigma, slope = dual(q, q, A, A, 0.0, 2.0, a)
            assert tau == 0.0
            assert sigma == 2.0
            assert (slope == math.inf) == activation.jumps()


@pytest.mark.parametrize(("kind", "fields"), IN_ARB)
@with_digits
def test_arb_agrees_and_its_slope_is_the_derivative(kind: str, fields: dict[str, Any]) -> None:
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    us = [arb(u) for u in (1, -1, 0.75, -0.5, 0)]
    for q in (0.3, 1.0):
        F, slopes = activation.arb_dual(arb(q), us, True)
        assert all(f.is_finite() for f in F)
        assert activation.arb_dual(arb(q), us, False)[1] is None
        A = variance(q, a)
        assert pytest.approx(float(F[0]), rel=1e-14) == A
        for u, f, slope in zip(us, F, slopes, strict=True):
            tau, sigma, float_slope = dual(q, q, A, A, float(1 - u), float(1 + u), a)
            assert tau == pytest.approx(float(1 - f / F[0]), abs=2e-14)
            assert sigma == pytest.approx(float(1 + f / F[0]), abs=2e-14)
            assert float_slope == pytest.approx(float(slope), rel=1e-13, abs=1e-14)
            if abs(u) < 1:
                h = arb(2) ** -60
                (above, below), _ = activation.arb_dual(arb(q), [u + h, u - h], False)
                assert float((above - below) / (2 * h * q)) == pytest.approx(float(slope), rel=1e-15, abs=1e-30)


@pytest.mark.parametrize("t", [1e-30, 3e-17, 1e-9, 2e-4, 0.03, 0.4, 1.0])
@pytest.mark.parametrize(("kind", "fields"), KINKED)
@with_digits
def test_kinked_kinds_keep_every_digit_at_both_ends(kind: str, fields: dict[str, Any], t: float) -> None:
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    A = variance(1.7, a)
    tau, _ = in_arb(activation, 1.7, t)
    assert dual(1.7, 1.7, A, A, t, 2 - t, a)[0] == pytest.approx(tau, rel=2e-14)
    _, sigma = in_arb(activation, 1.7, t, near_minus=True)
    assert dual(1.7, 1.7, A, A, 2 - t, t, a)[1] == pytest.approx(sigma, rel=2e-14)


@pytest.mark.parametrize("t", [1e-30, 3e-17, 1e-9, 1e-6, 2e-4, 0.03, 0.4, 1.0])
@pytest.mark.parametrize("q", [1e-6, 0.2, 3.0, 100.0, 1e6, 1e10])
@pytest.mark.parametrize("kind", ["erf", "gelu", "sin", "cos", "gaussian", "exp", "monomial", "hermite"])
@with_digits
def test_closed_forms_keep_every_digit_near_the_diagonal(kind: str, q: float, t: float) -> None:
    """τ relatively, for equal variances however large; exp beyond its overflow too."""
    fields = {"degree": 5} if kind in ("monomial", "hermite") else {}
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    A = variance(q, a)
    tau = dual(q, q, A, A, t, 2 - t, a)[0]
    assert tau == pytest.approx(in_arb(activation, q, t)[0], rel=1e-13)
    # variances that differ by rounding alone, as of points on one sphere
    p = q * (1 + 2**-50)
    assert dual(q, p, A, variance(p, a), t, 2 - t, a)[0] == pytest.approx(tau, rel=1e-13, abs=1e-30 * max(1, q))


@pytest.mark.parametrize("kind", ["erf", "sin", "monomial", "hermite"])
@with_digits
def test_odd_kinds_keep_every_digit_near_minus_one(kind: str) -> None:
    fields = {"degree": 5} if kind in ("monomial", "hermite") else {}
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    for q in (1e-6, 0.2, 1e6):
        for s in (1e-30, 1e-9, 0.03):
            A = variance(q, a)
            sigma = in_arb(activation, q, s, near_minus=True)[1]
            assert dual(q, q, A, A, 2 - s, s, a)[1] == pytest.approx(sigma, rel=1e-13)


@pytest.mark.parametrize(("kind", "fields"), [("gelu", {}), ("leaky_relu", {"slope": 0.3}), ("cos", {})])
def test_monte_carlo(kind: str, fields: dict[str, Any]) -> None:
    """E φ(z)φ(z') over 10⁶ draws, within 5 of its own standard errors."""
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    q, p, u, n = 1.3, 0.8, -0.4, 1_000_000
    x, y = np.random.default_rng(5).standard_normal((2, n))
    f, df = definition(activation)
    z, w = math.sqrt(q) * x, math.sqrt(p) * (u * x + math.sqrt(1 - u * u) * y)
    A, B = variance(q, a), variance(p, a)
    tau, _, slope = dual(q, p, A, B, 1 - u, 1 + u, a)
    for sample, wanted in ((f(z) * f(w), (1 - tau) * math.sqrt(A * B)), (df(z) * df(w), slope)):
        assert abs(sample.mean() - wanted) < 5 * sample.std() / math.sqrt(n)


VARIANCES = st.one_of(st.just(0.0), st.floats(-8, 6).map(lambda e: 10.0**e), st.floats(0.0, 10.0))
DISTANCES = st.one_of(st.just(0.0), st.floats(-30, 0).map(lambda e: 10.0**e), st.floats(0.0, 1.0))


@pytest.mark.parametrize(("kind", "fields"), [*CLOSED, ("monomial", {"degree": 20}), ("hermite", {"degree": 20})])
@given(q=VARIANCES, p=VARIANCES, distance=DISTANCES, flip=st.booleans())
def test_never_nan(kind: str, fields: dict[str, Any], q: float, p: float, distance: float, flip: bool) -> None:
    check_sane(kind, fields, q, p, distance, flip)


@pytest.mark.parametrize("kind", ["tanh", "softplus"])
@pytest.mark.parametrize("distance", [0.0, 1e-300, 1e-20, 1e-6, 0.3, 1.0])
@pytest.mark.parametrize(("q", "p"), [(0.0, 0.0), (0.0, 1.0), (1e-8, 1e6), (2.0, 0.0), (1e6, 1e6), (5e-324, 1.0)])
def test_never_nan_by_quadrature(kind: str, distance: float, q: float, p: float) -> None:
    for flip in (False, True):
        check_sane(kind, {}, q, p, distance, flip)


def check_sane(kind: str, fields: dict[str, Any], q: float, p: float, distance: float, flip: bool) -> None:
    activation, a, (_, _, variance, dual) = parts(kind, fields)
    t, s = (2 - distance, distance) if flip else (distance, 2 - distance)
    A, B = variance(q, a), variance(p, a)
    assert A >= 0
    assert B >= 0
    tau, sigma, slope = dual(q, p, A, B, t, s, a)
    assert 0 <= tau <= 2 * (1 + 1e-15)
    assert 0 <= sigma <= 2 * (1 + 1e-15)
    assert tau + sigma == pytest.approx(2, abs=1e-14)
    assert not math.isnan(slope)
    if A == 0 or B == 0:
        assert (tau, sigma) == (1.0, 1.0)
    elif q == p and t == 0:
        assert tau == 0
    assert math.isfinite(slope) or activation.jumps() or max(A, B) > 1e150


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_shape_is_as_declared(kind: str, fields: dict[str, Any]) -> None:
    activation, a, (phi, _, _, _) = parts(kind, fields)
    values = {z: phi(z, a) for z in (-2.0, -0.7, 0.4, 1.9)}
    homogeneity = activation.homogeneity()
    for h in (0, 1):
        is_so = all(phi(3 * z, a) == pytest.approx(3**h * f, rel=1e-14) for z, f in values.items())
        assert is_so == (homogeneity == h) or kind == "custom"  # a φ of one's own is not looked into
    n = activation.polynomial_degree()
    x = np.linspace(-2, 2, 40)
    y = np.array([phi(z, a) for z in x])
    residual = [np.abs(np.polynomial.Polynomial.fit(x, y, k)(x) - y).max() / np.abs(y).max() for k in range(8)]
    if n is None:
        assert min(residual) > 1e-7
    else:
        assert residual[n] < 1e-13
        assert n == 0 or residual[n - 1] > 1e-7
    for k in activation.kink_points():
        jump = abs(phi(k + 1e-12, a) - phi(k - 1e-12, a))
        assert (jump > 0.5) == activation.jumps()
    if not activation.kink_points():
        assert not activation.jumps()
        h = 1e-3  # second differences of a smooth φ are O(h²)
        assert abs(phi(h, a) - 2 * phi(0.0, a) + phi(-h, a)) < 5 * h * h


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("hermite", {"degree": -1}),
        ("monomial", {"degree": 0}),
        ("relu", {"x": 1}),
        ("shifted", {"shift": 0.0}),
        ("shifted", {"of": "sin"}),
    ],
)
def test_wrong_parameters_are_refused(kind: str, fields: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=f"activation {kind}"):
        activations.get(kind, **fields)


@with_digits
def test_the_series_says_when_it_is_too_long() -> None:
    activation, *_ = parts("tanh", {})
    with pytest.raises(SimlabError, match="more than 20000 terms"):
        activation.arb_dual(arb(1000), [arb(1)], False)


@pytest.mark.parametrize(("shift", "q"), [(1.0, 0.7), (-2.0, 1.3), (3.0, 0.1), (0.5, 40.0)])
def test_the_second_moment_of_a_shifted_relu(shift: float, q: float) -> None:
    """E max(√q x + b, 0)² = (q + b²)Φ(b/√q) + b√q ϕ(b/√q)."""
    _, a, (_, _, variance, _) = parts("shifted", {"shift": shift})
    r = shift / math.sqrt(q)
    density = math.exp(-r * r / 2) / math.sqrt(2 * math.pi)
    closed = (q + shift**2) * special.ndtr(r) + shift * math.sqrt(q) * density
    assert variance(q, a) == pytest.approx(closed, rel=1e-12)
