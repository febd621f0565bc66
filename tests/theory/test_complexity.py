"""Complexities against closed forms of the sums and exact fractions, the product as powers in integers, and the
theorem's numbers against the same formulas written out for one class."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_series, ctx

from simlab import activations
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.theory import complexity
from simlab.theory.complexity import Concept, c_alpha, c_s, product_powers, separation

E1, ROOT = math.e, math.sqrt(math.pi)
# Σ (i+1)|c_i| is d/dz z m(z) at 1, m(z) = Σ|c_i|z^i: e^z, sinh, cosh, e^{z²}, erfi, tan, log 2 + z/2 − log cos(z/2).
CLOSED = {
    "exp": 2 * E1,
    "sin": math.sinh(1) + math.cosh(1),
    "cos": math.cosh(1) + math.sinh(1),
    "gaussian": 3 * E1,
    "tanh": math.tan(1) + 1 / math.cos(1) ** 2,
    "softplus": math.log(2) + 1 - math.log(math.cos(0.5)) + 0.5 * math.tan(0.5),
}


@pytest.mark.parametrize("kind", CLOSED)
@pytest.mark.parametrize("C", [1.0, 2.5])
def test_c_s_in_closed_form(kind: str, C: float) -> None:
    assert c_s(kind, C) == pytest.approx(C * CLOSED[kind], rel=1e-14)


def test_c_s_of_erf_and_gelu() -> None:
    """m + m' at 1: erfi' = 2e^{z²}/√π."""
    with ctx.workprec(120):
        erfi = float(arb(1).erfi())
        half = float((1 / arb(2).sqrt()).erfi())
    assert c_s("erf") == pytest.approx(erfi + 2 * E1 / ROOT, rel=1e-14)
    assert c_s("gelu") == pytest.approx(1 + half + math.sqrt(0.5) * math.exp(0.5) / ROOT, rel=1e-14)


def series_of(kind: str, terms: int) -> list[arb]:
    """Taylor coefficients by Arb's arithmetic of power series, which knows none of the formulas."""
    assert ctx.cap >= terms  # what Arb cuts its series to
    z = arb_series([0, 1], prec=terms)
    found = {
        "exp": lambda: z.exp(),
        "sin": lambda: z.sin(),
        "cos": lambda: z.cos(),
        "gaussian": lambda: (-z * z).exp(),
        "erf": lambda: z.erf(),
        "gelu": lambda: z * (1 + (z / arb(2).sqrt()).erf()) / 2,
        "tanh": lambda: 1 - 2 / ((2 * z).exp() + 1),
        "softplus": lambda: (1 + z.exp()).log(),
    }[kind]()
    return [abs(found[i]) for i in range(terms)]


@pytest.mark.parametrize(
    ("kind", "alpha", "C"),
    [(k, a, C) for k in ("exp", "sin", "cos", "gaussian", "erf", "gelu") for a, C in ((0.3, 1.0), (1e-9, 7.0))]
    + [("tanh", 0.3, 1.2), ("softplus", 1e-3, 2.0)],
)
def test_c_alpha_of_activations(kind: str, alpha: float, C: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of 400 terms of Arb's series in 400 bits; at C = 7 and log(1/α) = 21 terms rise to 1e20 first."""
    monkeypatch.setattr(ctx, "cap", 400)
    with ctx.workprec(400 if kind not in ("tanh", "softplus") else 1200):
        c, base, L = series_of(kind, 400), arb(C), -arb(alpha).log()
        total = 2 * c[0]
        for i in range(1, 400):
            total += (base**i + base**i * (L / i) ** (arb(i) / 2)) * c[i]
        expected = float(total)
    assert c_alpha(kind, alpha, C) == pytest.approx(expected, rel=1e-13)


def test_polynomials_exactly() -> None:
    """Signs do not matter; fractions, integers, floats and arrays alike; a Hermite polynomial by NumPy's."""
    assert c_s([3, -2, Fraction(1, 3)], 2.0) == 2 * (3 + 4 + 1)
    assert c_s(np.array([3, -2, 1])) == c_s((3.0, 2.0, -1.0)) == 10.0
    assert c_alpha([5.0], 0.5) == 10.0
    L = math.log(2)
    expected = 2 + (3 + 3 * math.sqrt(L)) + (9 + 9 * L / 2)
    assert c_alpha([1, 1, 1], 0.5, 3.0) == pytest.approx(expected, rel=1e-15)
    assert c_s(activations.get("monomial", degree=7), 0.5) == 4.0
    h = np.polynomial.hermite_e.herme2poly([0] * 9 + [1]) / math.sqrt(math.factorial(9))
    assert c_s(activations.get("hermite", degree=9)) == pytest.approx(np.sum(np.arange(1, 11) * np.abs(h)), rel=1e-14)


def test_series_by_a_function() -> None:
    """Fast, slow (0.99^i: 1/(1−r)²), with gaps, zero, and at C = 100, where e^100 comes from terms up to 1e42."""
    assert c_s(lambda i: Fraction((-1) ** i, math.factorial(i))) == pytest.approx(2 * E1, rel=1e-14)
    assert c_s(lambda i: 0.99**i) == pytest.approx(1 / (1 - 0.99) ** 2, rel=1e-11)  # of 1 − 0.99 itself 1e-14 is lost
    half = sum(Fraction(2**k + 1, 2 ** (2**k)) for k in range(9))
    gaps = {2**k for k in range(20)}
    assert c_s(lambda i: Fraction(1, 2**i) if i in gaps else 0) == pytest.approx(float(half), rel=1e-14)
    assert c_s(lambda i: 0) == 0.0
    large = c_alpha(lambda i: Fraction(1, math.factorial(i)), 0.999, 100.0)
    assert large == pytest.approx(c_alpha("exp", 0.999, 100.0), rel=1e-14)
    assert large == pytest.approx(math.exp(100), rel=1e-12)  # the second sum is e^{O(3²)}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: c_s(lambda i: 1), "C_s: Σ w_i|c_i| has not converged after 10000 terms"),
        (lambda: c_s(lambda i: (i + 1.0) ** -2), "has not converged after 10000 terms"),
        (lambda: c_s(math.factorial), "greater than 1.8e308"),
        (lambda: c_alpha(lambda i: Fraction(1, 2**i), 0.5, 2.0), "C_α at C = 2: Σ w_i|c_i| has not converged"),
        (lambda: c_alpha(lambda i: 2.0**-i, 0.5, 2.0), "coefficient c_1023 = 1.1125369292536007e-308: has lost"),
        (lambda: c_alpha("exp", 0.5, 1000.0), "greater than 1.8e308"),
        (lambda: c_s([1e308, 1e308]), "C_s: the sum of 2 terms is greater than 1.8e308"),
        (lambda: c_alpha(lambda i: 1.0 / (1 << 9 * i), 0.5, 500.0), "coefficient c_114: "),
        (lambda: c_s([]), "series: no coefficients"),
        (lambda: c_s([1.0, math.nan]), "coefficient c_1 = nan: must be a finite number"),
        (lambda: c_s([1j]), "coefficient c_0 = 1j: must be a finite number"),
        (lambda: c_s("relu"), "C_s of relu: not smooth at 0"),
        (lambda: c_s("sine"), "series = 'sine': unknown kind"),
        (lambda: c_alpha("tanh", 0.5, 1.6), "converges only below π/2: take C less than 1.5708"),
        (lambda: c_alpha("softplus", 0.5, 4.0), "converges only below π"),
        (lambda: c_s([1], -1.0), "C = -1.0: must be greater than 0"),
        (lambda: c_alpha([1], 1.0), "alpha = 1.0: must be greater than 0 and less than 1"),
        (lambda: c_alpha([1], 0.0), "alpha = 0.0: must be greater than 0 and less than 1"),
        (lambda: product_powers(21), "k = 21: must be from 1 to 20"),
        (lambda: separation(5, 6), "k = 6: must be 2 to dim = 5"),
        (lambda: separation(500, 300), "k = 300: must be 256 or less"),
        (lambda: complexity.kernel_samples(5, 1), "k = 1: must be 2 or more"),
        (lambda: complexity.kernel_samples(5, 2.0), "k = 2.0: must be a whole number"),  # type: ignore[arg-type]
        (lambda: complexity.kernel_risk(1.5), "alpha = 1.5: must be"),
        (lambda: complexity.simple_line(8, -0.1), "alpha = -0.1: must be 0 or more and less than 1"),
        (lambda: complexity.resnet_samples(30, 8, math.nan), "alpha = nan: must be"),
        (lambda: complexity.consequence(10, 2, 0.125), "power = 0.125: must be"),
        (lambda: separation(30, 3).delta(0.5), "alpha = 0.5: must be less than 1/(k p_G C_s(G)) = 0.0962"),
        (lambda: separation(30, 3).samples(0.0), "delta = 0.0: must be greater than 0"),
        (lambda: Concept(0, 1, 1.0, 1, 1.0), "k = 0: must be 1 or more"),
    ],
)
def test_bad_input_is_one_line(call: object, says: str) -> None:
    with pytest.raises(BadInput) as error:
        call()  # type: ignore[operator]
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_every_activation_is_summed_or_refused() -> None:
    """Summed means: analytic at 0, which kinks there, or a φ only known by its values, are not."""
    refused = set()
    for kind, table in catalogue.all_examples("activations"):
        try:
            assert 0.0 < c_s(activations.get(kind, **table)) < math.inf
        except BadInput:
            refused.add(kind)
    assert refused == {"abs", "custom", "leaky_relu", "relu", "shifted", "sign", "step"}


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_product_as_powers_in_integers(k: int) -> None:
    powers = product_powers(k)
    assert powers.directions.shape == (2**k, k)
    assert len({tuple(row) for row in powers.directions.tolist()}) == 2**k
    for y in itertools.product((-3, 0, 2, 7), repeat=k):
        total = sum(s * sum(e * v for e, v in zip(row, y, strict=True)) ** k
                    for s, row in zip(powers.signs.tolist(), powers.directions.tolist(), strict=True))  # fmt: skip
        assert powers.factor * total == math.prod(y)


def test_product_by_unit_directions() -> None:
    powers = product_powers(6, unit=True)
    y = np.random.default_rng(0).standard_normal((20, 6))
    found = powers.factor * (y @ powers.directions.T) ** 6 @ powers.signs
    np.testing.assert_allclose(found, np.prod(y, axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(powers.directions, axis=1), 1.0, rtol=1e-15)
    assert powers.factor == pytest.approx(216 / (64 * 720), rel=1e-15)


@pytest.mark.parametrize(("dim", "k"), [(30, 2), (30, 8), (7, 7), (400, 256)])
def test_separation_class(dim: int, k: int) -> None:
    """C_s(F) = 2√d, p_G C_s(G) = (k+1)k^{k/2}/k!, which is below 4^k (1.5^k far out): the 2^{O(k)} of the source."""
    found = separation(dim, k)
    assert (found.k, found.p_F, found.p_G) == (k, 1, 2**k)
    assert pytest.approx(2 * math.sqrt(dim), rel=1e-14) == found.C_F
    log = math.log(k + 1) + 0.5 * k * math.log(k) - math.lgamma(k + 1)
    assert math.log(found.B / k) == pytest.approx(log, abs=1e-10)
    assert found.B / k < 4.0**k
    assert pytest.approx(3 * separation(dim, k).C_G, rel=1e-14) == separation(dim, k, 3.0).C_G


def test_bounds_hold_on_the_separation_class() -> None:
    """‖F‖ = √k, ‖G(F)‖ = √k, and no two corners of the cube are farther apart in G than the Lipschitz bound says."""
    found, k = separation(9, 3), 3
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=k)))
    G = np.prod(corners, axis=1)[:, None] * np.ones(k)
    assert math.sqrt(k) <= min(found.norm_F, found.norm_GF)
    for i, j in itertools.combinations(range(8), 2):
        apart = np.linalg.norm(corners[i] - corners[j])
        assert np.linalg.norm(G[i] - G[j]) <= found.lipschitz_G * apart


def test_numbers_of_the_theorem() -> None:
    """k = 4, p_F = 2, C_s(F) = 3, p_G = 5, C_s(G) = ¼: B = 5, ‖F‖ ≤ 12."""
    found = Concept(4, 2, 3.0, 5, 0.25)
    assert found.largest_alpha == pytest.approx(0.2)
    assert (found.norm_F, found.norm_GF, found.lipschitz_G) == (12.0, 30.0, 2.5)
    assert found.risk(0.1) == pytest.approx(1 / 16)
    assert found.delta(0.1) == pytest.approx(169 / 16)
    assert found.samples(found.delta(0.1)) == 24.0**2  # δ > 1
    assert found.samples(0.1) == pytest.approx(57600.0)
    assert found.samples(1e-300) == math.inf
    assert Concept(1, 1, 1.0, 1, 0.1).largest_alpha == 1.0


def test_resnet_against_kernels() -> None:
    assert complexity.resnet_samples(30, 8, 0.5) == 64 * 30 * 256
    assert complexity.resnet_samples(30, 8, 1e-300) == math.inf
    # The theorem's T at δ = α⁴, C_s(F) = 2√d having the factor 2.
    assert separation(30, 8).samples(0.5**4) == pytest.approx(4 * complexity.resnet_samples(30, 8, 0.5), rel=1e-13)
    assert complexity.resnet_error(0.5) == 1 / 16
    assert complexity.resnet_error(0.01, k=3) == pytest.approx(separation(30, 3).risk(0.01), rel=1e-13)
    assert complexity.kernel_samples(30, 8) == complexity.kernel_features(30, 8) == 5852
    big = complexity.kernel_samples(1000, 500)
    assert big == Fraction(math.factorial(1000), math.factorial(500) ** 2) // 1000
    assert complexity.kernel_samples(10, 2) == 0
    assert complexity.kernel_risk(0.4) == pytest.approx(0.01)
    assert complexity.simple_line(8, 0.3) == pytest.approx(0.72)
    assert complexity.simple_line(8, 0.0) == 0.0


def test_consequence() -> None:
    """d^{1.8} against d^{0.9k}; where that comes below C(d,k)/1000."""
    found = complexity.consequence(10**10, 4)
    assert found.alpha == pytest.approx(0.1)
    assert (found.resnet_exponent, found.kernel_exponent) == pytest.approx((1.8, 3.6))
    assert found.resnet_samples == pytest.approx(1e18)
    assert found.kernel_samples == pytest.approx(found.resnet_samples**2)
    assert complexity.resnet_samples(10**10, 4, found.alpha) == pytest.approx(16 * found.resnet_samples)
    for k, dim in ((2, 2000**5), (4, int(24000**2.5))):
        for factor, enough in ((0.9, False), (1.1, True)):
            d = int(factor * dim)
            assert (complexity.kernel_samples(d, k) > complexity.consequence(d, k).kernel_samples) == enough
    assert complexity.consequence(10**10, 90).kernel_samples == math.inf
