"""Digits near u = ±1: the NTK of inputs 1e-9 apart against Arb, duplicates, antipodes, great depth and variances."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from simlab import activations
from simlab.core.errors import SimlabError
from simlab.kernels import gram, laplace, nngp, ntk, polynomial, residual
from simlab.kernels.gram.pairs import correlation, row_norms


def _exact(x, y):
    """K of two vectors of floats, exactly: x·x, y·y, x·y in Arb."""
    exact = [[arb(float(v)) for v in row] for row in (x, y)]
    dot = lambda a, b: sum((p * q for p, q in zip(a, b, strict=True)), arb(0))  # noqa: E731
    return dot(exact[0], exact[0]), dot(exact[1], exact[1]), dot(exact[0], exact[1])


def arb_ntk(x, y, depth, bias=0.0, weight=None):
    """The ReLU tangent kernel of two vectors by its recursion in balls, with arc-cosines of Arb. MATH §3."""
    pi, d = arb.pi(), len(x)
    qx, qy, c = _exact(x, y)
    b, w = (arb(bias) ** 2, arb(weight) ** 2) if weight else (arb(0), arb(2))
    first = w / d if weight else arb(1)
    qx, qy, c = b + first * qx, b + first * qy, b + first * c
    theta = c
    for _ in range(depth - 1):
        norm = (qx * qy).sqrt()
        # Never past the ends by the width of a ball: the argument of acos by way of the sine.
        cosine = c / norm
        sine = (1 - cosine * cosine).sqrt() if not (1 - abs(cosine)).contains(0) else arb(0)
        angle = arb.atan2(sine, cosine)
        F = norm * (sine + (pi - angle) * cosine) / (2 * pi)
        slope = (pi - angle) / (2 * pi)
        qx, qy, c = b + w * qx / 2, b + w * qy / 2, b + w * F
        theta = c + w * slope * theta
    return theta


@pytest.fixture(autouse=True)
def _digits():
    before = ctx.dps
    ctx.dps = 120
    yield
    ctx.dps = before


@pytest.mark.parametrize("fields", [{}, {"weight_std": 1.3, "bias_std": 0.4}])
@pytest.mark.parametrize("depth", [2, 3, 6])
@pytest.mark.parametrize("on_sphere", [True, False])
def test_five_digits_of_the_difference_of_near_inputs(fields, depth, on_sphere):
    rng = np.random.default_rng(depth)
    x = rng.standard_normal(8)
    step = rng.standard_normal(8)
    if on_sphere:
        x /= np.linalg.norm(x)
        step -= x * (x @ step)
    y = x + 1e-9 * step / np.linalg.norm(step)
    far = rng.standard_normal((3, 8))
    kernel = ntk(depth, **fields)
    K = kernel.gram(np.vstack([x, far[0], y, far[1:]]))
    bias, weight = fields.get("bias_std", 0.0), fields.get("weight_std")
    exact = arb_ntk(x, x, depth, bias, weight) - arb_ntk(x, y, depth, bias, weight)
    assert abs(float((arb(float(K[0, 0])) - arb(float(K[0, 2]))) / exact) - 1) < 1e-5
    assert K[0, 2] == kernel.gram(x[np.newaxis], y[np.newaxis])[0, 0]


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_near_antipodes_keep_their_digits(depth):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(6)
    y = -x + 1e-9 * rng.standard_normal(6)
    K = ntk(depth).gram(np.vstack([x, -x, y]))
    exact = arb_ntk(x, y, depth) - arb_ntk(x, -x, depth)
    assert float((arb(float(K[0, 2])) - arb(float(K[0, 1]))) / exact) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(
    "kernel",
    [nngp(3), ntk(4), ntk(3, "erf", 1.5, 0.2), laplace(2.0), polynomial(3), nngp(3, "step"), residual(3)],
    ids=repr,
)
def test_duplicates_and_antipodes_are_exact(kernel):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((4, 7))
    K = kernel.gram(np.vstack([x, x, -x]))
    assert np.array_equal(np.diag(K), kernel.diagonal(x).tolist() * 3)
    assert np.array_equal(np.diag(K[:4, 4:8]), kernel.diagonal(x)), "a duplicate is the point itself, to the bit"
    h = kernel.leaves()[0].homogeneity()
    if h is not None:
        norms = row_norms(x) ** (2 * h)
        assert np.allclose(np.diag(K[:4, 8:]), norms * kernel(-1.0), rtol=4e-15, atol=1e-300)
        assert np.allclose(np.diag(K[:4, :4]), norms * kernel(1.0), rtol=4e-15)


@pytest.mark.parametrize("name", ["relu", "abs", "erf", "gelu", "sin", "cos", "gaussian", "sign", "step"])
@pytest.mark.parametrize("std", [0.03, 1.0, 31.6])
def test_depth_1000_and_variances_of_a_thousand_give_numbers_or_name_the_layer(name, std):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6, 5))
    X = np.vstack([X, X[:1], -X[:1], X[:1] + 1e-9, np.zeros((1, 5))])
    make = nngp if name in ("sign", "step") else ntk
    for bias in (0.0, 31.6):
        kernel = make(1000, name, std, bias)
        refused = None
        try:
            K = kernel.gram(X)
        except SimlabError as error:
            refused = str(error)
        if refused is None:
            assert np.all(np.isfinite(K))
            assert np.array_equal(K, K.T)
        else:
            assert "overflow at layer" in refused
            assert max(std, bias) > 1


def test_relu_that_overflows_names_the_first_layer_that_does():
    # K^ℓ(x,x) = (σ_w²/2)^{ℓ−1} σ_w²|x|²/d
    weight, d = 1000.0, 4
    layer = next(ell for ell in range(1, 1000) if ell * np.log10(weight) - (ell - 1) * np.log10(2.0) > 308.2547)
    with pytest.raises(SimlabError, match=f"overflow at layer {layer} of 1000"):
        nngp(1000, weight_std=weight**0.5).gram(np.ones((2, d)))


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
    st.floats(-16, 0),
    st.sampled_from([-1.0, 1.0]),
    st.integers(-300, 300),
)
def test_the_angle_of_two_vectors_has_its_digits(d, seed, log_gap, sign, exponent):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(d)
    y = sign * (x * rng.uniform(0.1, 10) + 10**log_gap * rng.standard_normal(d)) * 2.0**exponent
    t, s = correlation(x, y)
    qx, qy, c = _exact(x, y)
    cosine = c / (qx * qy).sqrt()
    exact_t, exact_s = 1 - cosine, 1 + cosine
    assert t + s == pytest.approx(2.0, rel=1e-15)
    for value, exact in ((t, exact_t), (s, exact_s)):
        # 1e-32: two roundings of 1e-16 in the slope, squared.
        assert abs(value - float(exact)) <= 1e-14 * float(exact) + 1e-30


@pytest.mark.parametrize("distance", [1e-12, 1e-15, 1e-16, 0.0])
def test_the_angle_of_nearly_parallel_vectors_has_its_digits_too(distance):
    """y = c·x rounded is turned by 1e-16 or so: that angle is what the vectors have, and must come out."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        x = rng.standard_normal(5)
        y = x * rng.uniform(0.5, 3.0) + distance * rng.standard_normal(5)
        qx, qy, c = _exact(x, y)
        exact = float(1 - c / (qx * qy).sqrt())
        assert correlation(x, y)[0] == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("kind", ["monomial", "hermite"])
def test_orthogonal_inputs_of_polynomial_nets(kind):
    """An odd φ without bias makes κ odd: 0 for orthogonal inputs, though t and s both round to a little over 1."""
    for degree in (1, 3):
        phi = activations.get(kind, degree=degree)
        for kernel in (residual(4, phi), residual(4, phi, 1.3, 0.0, 0.7, False), nngp(3, phi)):
            K = kernel.gram(np.eye(4))
            assert np.abs(K - np.diag(np.diag(K))).max() <= 1e-14 * K[0, 0]
            assert abs(kernel(0.0)) <= 1e-14 * kernel(1.0)
    cubic = nngp(3, activations.get("monomial", degree=3), 0.5, 0.5).gram([[1.0, 0.0]], [[-2.0, 1.0]])
    # E z³z'³ = 9qpc + 6c³, twice, with σ_w² = σ_b² = 1/4 and x·y/d = −1.
    q, p, c = 0.25 + 0.25 / 2, 0.25 + 0.25 * 5 / 2, 0.25 - 0.25
    for _ in range(2):
        q, p, c = (0.25 + 0.25 * 15 * q**3, 0.25 + 0.25 * 15 * p**3, 0.25 + 0.25 * (9 * q * p * c + 6 * c**3))
    assert cubic[0, 0] == pytest.approx(c, rel=1e-13)


def test_huge_inputs_of_radial_kernels():
    K = laplace(1.0).gram([[1e200, 0.0], [1e200, 1e200], [1.0, 2.0]])
    assert np.array_equal(K, np.eye(3))


def test_zero_vectors_and_subnormal_ones():
    assert correlation(np.zeros(3), np.ones(3)) == (1.0, 1.0)
    tiny = np.full(3, 5e-324)
    assert correlation(tiny, np.ones(3)) == (0.0, 2.0)
    assert row_norms(np.array([[3e200, 4e200], [3e-200, 4e-200], [0.0, 0.0]])) == pytest.approx([5e200, 5e-200, 0.0])
    K = gram([ntk(3), nngp(2, "step")], np.vstack([np.zeros(3), np.ones(3)]))
    assert K[0][0].tolist() == [0.0, 0.0]
    assert K[1][0].tolist() == [0.0, 0.0]
    constant = nngp(2, activations.get("hermite", degree=0)).gram(np.vstack([np.zeros(3), np.ones(3)]))
    assert constant.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_custom_activation_without_a_table_is_evaluated_near_the_diagonal_too():
    x = np.array([[0.6, 0.8], [0.6 + 1e-9, 0.8]])
    plain, own = ntk(2), ntk(2, activations.get("leaky_relu", slope=0.0))
    assert own.gram(x) == pytest.approx(plain.gram(x), rel=1e-15)
