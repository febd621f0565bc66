"""Every activation against an independent definition of φ, a quadrature of its own, Arb, and Monte Carlo."""

from __future__ import annotations

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
KINKED = [("leaky_relu", {"slope": 0.3}), ("leaky_relu", {"slope": -2.0}), ("leaky_relu", {"slope": 1.0}),
          ("relu", {}), ("abs", {}), ("step", {}), ("sign", {})]  # fmt: skip


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
    """Against integrals of its own φ, which the next test compares with its definition."""
    slope_tolerance = 2e-11 if kind == "custom" else 1e-12
    activations.check(activations.get(kind, **fields), tolerance=2e-13, slope_tolerance=slope_tolerance)


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_phi_and_its_derivative(kind: str, fields: dict[str, Any]) -> None:
    activation, a, (phi, dphi, _, _) = parts(kind, fields)
    f, df = definition(activation)
    for z in np.linspace(-12.7, 12.8, 52):
        assert phi(z, a) == pytest.approx(float(f(z)), rel=2e-14, abs=1e-14)
        assert dphi(z, a) == pytest.approx(float(df(z)), rel=1e-9, abs=1e-11)


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
def test_what_holds_of_the_shape_is_declared(kind: str, fields: dict[str, Any]) -> None:
    """`check` refuses what is declared and does not hold; here the other way round."""
    activation, a, (phi, _, _, _) = parts(kind, fields)
    values = {z: phi(z, a) for z in (-2.0, -0.7, 0.4, 1.9)}
    for h in (0, 1):
        is_so = all(phi(3 * z, a) == pytest.approx(3**h * f, rel=1e-14) for z, f in values.items())
        assert is_so == (activation.homogeneity() == h) or kind == "custom"  # a φ of one's own is not looked into
    x = np.linspace(-2, 2, 40)
    y = np.array([phi(z, a) for z in x])
    n = activation.polynomial_degree()
    lower = [np.abs(np.polynomial.Polynomial.fit(x, y, k)(x) - y).max() for k in range(8 if n is None else n)]
    assert min(lower, default=np.inf) > 1e-7 * np.abs(y).max()
    jumps = [abs(phi(k + 1e-12, a) - phi(k - 1e-12, a)) for k in activation.kink_points()]
    assert any(jump > 0.5 for jump in jumps) == activation.jumps()


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
