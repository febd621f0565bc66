"""The contract of every kernel kind, found by walking; and the kernels' own identities."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from simlab import activations, kernels
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.kernels import gaussian, gram, laplace, nngp, ntk, polynomial, power_exponential, residual

EVERY = catalogue.all_examples("kernels")
U = np.linspace(-1, 1, 41)


@pytest.fixture(params=EVERY, ids=lambda example: f"{example[0]}-{example[1]}")
def kernel(request):
    kind, table = request.param
    return choose("kernels", {"kind": kind, **table}, "kernel")


def test_the_contract(kernel):
    kernels.check(kernel)


def test_the_repr_is_the_call_that_makes_it(kernel):
    names = vars(kernels) | {"leaky_relu": lambda **fields: activations.get("leaky_relu", **fields)}
    assert eval(repr(kernel), names) == kernel


# Identities


@pytest.mark.parametrize("depth", [2, 3, 7])
def test_normalised_relu_kernels_at_one_and_twice_in_the_general_recursion(depth):
    assert nngp(depth)(1.0) == pytest.approx(1.0, rel=1e-15)
    assert ntk(depth)(1.0) == pytest.approx(depth, rel=1e-14)
    # MATH §3: with σ_w² = 2, σ_b = 0 and ‖x‖² = d exactly twice the normalised one.
    for make in (nngp, ntk):
        assert make(depth, weight_std=2**0.5)(U) == pytest.approx(2 * make(depth)(U), rel=1e-14, abs=1e-15)


def test_depth_two_relu_by_its_formula():
    theta = np.arccos(U)
    k0, k1 = 1 - theta / np.pi, (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / np.pi
    assert nngp(2)(U) == pytest.approx(k1, abs=1e-15)
    assert ntk(2)(U) == pytest.approx(k1 + U * k0, abs=2e-15)


@pytest.mark.parametrize(("depth", "bias"), [(2, 0.0), (4, 0.3)])
def test_tanh_net_by_gauss_hermite(depth, bias):
    """The general recursion with Gauss–Hermite quadrature in NumPy, exact enough for tanh at a small variance."""
    nodes, weights = hermegauss(120)
    weights = weights / weights.sum()
    slope = lambda z: 1 - np.tanh(z) ** 2  # noqa: E731

    def expectation(f, q, c):
        r = c / q
        first = np.sqrt(q) * nodes[:, None]
        second = np.sqrt(q) * (r * nodes[:, None] + np.sqrt(max(0.0, 1 - r * r)) * nodes[None, :])
        return float(weights @ (f(first) * f(second)) @ weights)

    std = 0.8
    for u in (-0.9, 0.2, 0.7):
        q, c = bias**2 + std**2, bias**2 + std**2 * u
        theta = c
        for _ in range(depth - 1):
            derivative = expectation(slope, q, c)
            q, c = bias**2 + std**2 * expectation(np.tanh, q, q), bias**2 + std**2 * expectation(np.tanh, q, c)
            theta = c + std**2 * derivative * theta
        assert ntk(depth, "tanh", std, bias)(u) == pytest.approx(theta, rel=1e-9)


@pytest.mark.parametrize("tangent", [False, True])
def test_residual_kernel_by_its_recursion(tangent):
    alpha, weight, bias = 0.7, 1.2, 0.3
    q, c = bias**2 + weight**2, bias**2 + weight**2 * U
    theta = c
    for _ in range(3):
        u = c / q
        angle = np.arccos(np.clip(u, -1, 1))
        F = q * (np.sin(angle) + (np.pi - angle) * u) / (2 * np.pi)
        branch = alpha**2 * (bias**2 + weight**2 * F)
        theta = theta + branch + alpha**2 * weight**2 * (1 - angle / np.pi) / 2 * theta
        q, c = q + alpha**2 * (bias**2 + weight**2 * q / 2), c + branch
    assert activations.get("relu").homogeneity() == 1
    expected = theta if tangent else c
    assert residual(4, "relu", weight, bias, alpha, tangent)(U) == pytest.approx(expected, rel=2e-8)
    inner = slice(1, -1)  # at the ends arccos loses half of its digits, there only
    assert residual(4, "relu", weight, bias, alpha, tangent)(U[inner]) == pytest.approx(expected[inner], rel=1e-13)
    assert residual(4, tangent=False)(1.0) == pytest.approx(1.0, rel=1e-15)


def test_radial_kernels_on_any_inputs():
    X = np.random.default_rng(4).standard_normal((30, 4))
    square = ((X[:, None] - X[None]) ** 2).sum(-1) / 2
    assert laplace(1.7).gram(X) == pytest.approx(np.exp(-1.7 * np.sqrt(square)), rel=1e-13)
    assert gaussian(0.3).gram(X) == pytest.approx(np.exp(-0.3 * square), rel=1e-13)
    assert power_exponential(2.0, 0.3).gram(X) == pytest.approx(np.exp(-2.0 * square**0.3), rel=1e-13)
    assert power_exponential(2.0, 0.5)(U) == pytest.approx(laplace(2.0)(U), rel=1e-15)


def test_polynomial_kernel_on_any_inputs():
    X = np.random.default_rng(4).standard_normal((30, 4))
    assert polynomial(3).gram(X) == pytest.approx((1 + X @ X.T) ** 3, rel=1e-11, abs=1e-11)
    assert polynomial(2, 0.5)(U) == pytest.approx((0.5 + U) ** 2, rel=1e-14, abs=1e-15)
    # (c + u)² on the circle: u² = 1/2 + cos(2θ)/2, u = cos θ, and N_k = 2
    assert polynomial(2, 0.5).spectrum(2, 4).eigenvalues == pytest.approx([0.75, 0.5, 0.25, 0.0, 0.0], rel=1e-14)
    with pytest.raises(BadInput, match="overflows"):
        polynomial(20).gram([[1e20, 0.0]])


def test_operators():
    X = np.random.default_rng(0).standard_normal((20, 4))
    k, m = ntk(3), laplace(2.0)
    assert (k + m).gram(X) == pytest.approx(k.gram(X) + m.gram(X), rel=1e-15)
    assert (k * m).gram(X) == pytest.approx(k.gram(X) * m.gram(X), rel=1e-15)
    assert (0.5 * k).gram(X) == pytest.approx(0.5 * k.gram(X), rel=1e-15)
    assert 2 * (0.5 * k) == 1.0 * k
    assert k + m + k == (k + m) + k
    assert sum([k, m]) == k + m
    assert repr(3 * (k + m)) == "3.0 * (ntk(depth=3) + laplace(c=2.0))"
    one_pass = gram([k, m, k + m, k * m], X)
    assert np.array_equal(one_pass[2], one_pass[0] + one_pass[1])
    for wrong in (lambda: k + 1, lambda: k * "a"):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(BadInput, match=r"scale = -1.0: must be greater than 0"):
        -1.0 * k


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ntk(3, "step"), "activation = 'step': it jumps"),
        (lambda: ntk(3, "sign"), "activation = 'sign': it jumps"),
        (lambda: residual(3, "sign"), "no tangent kernel; use nngp"),
        (lambda: ntk(3, bias_std=0.1), "bias_std = 0.1: the normalised family has no bias"),
        (lambda: ntk(0), "ntk.depth = 0: must be greater than or equal to 1"),
        (lambda: ntk(2.5), "ntk.depth = 2.5: must be a valid integer"),
        (lambda: ntk(2, "rleu"), 'did you mean "relu"'),
        (lambda: ntk(2, weight_std=-1.0), "ntk.weight_std = -1.0: must be greater than 0"),
        (lambda: ntk(2, weight_std=float("nan")), "ntk.weight_std = nan: must be a finite number"),
        (lambda: ntk(2, ntk(3)), "ntk.activation.kind = 'ntk': not an activation (allowed: abs, cos"),
        (lambda: ntk(10**9), "ntk.depth = 1000000000: must be less than or equal to 100000"),
        (lambda: ntk(2)("abc"), "X has dtype <U3, such as 'abc': must be real numbers"),
        (lambda: laplace(0.0), "laplace.c = 0.0: must be greater than 0"),
        (lambda: power_exponential(1.0, 1.5), "gamma = 1.5: must be less than or equal to 1"),
        (lambda: kernels.get("ntk"), "ntk.depth: missing"),
        (lambda: kernels.get("nkt", depth=3), 'did you mean "ntk"'),
        (lambda: ntk(2)(1.1), "u = 1.1: a cosine must lie in"),
        (lambda: ntk(2)([0.0, float("nan")]), "u = nan: a cosine must lie in"),
        (lambda: ntk(2).set_params(dept=3), 'did you mean "depth"'),
    ],
)
def test_what_is_refused(make, says):
    with pytest.raises(BadInput) as refused:
        make()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_numpy_numbers_are_numbers():
    assert ntk(np.int64(3), weight_std=np.float64(1.5)) == ntk(3, weight_std=1.5)
    assert ntk(3).set_params(depth=5) == ntk(5)


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base")
    assert base.clone(ntk(3)) == ntk(3)
    assert ntk(3).get_params()["depth"] == 3


@pytest.mark.parametrize(
    "first", ["simlab.kernels.gram", "simlab.kernels.gram.store", "simlab.kernels", "simlab.machines"]
)
def test_gram_is_the_function_whatever_was_imported_before(first):
    code = (
        f"import {first}, importlib; import simlab.kernels.gram.pairs; from simlab import kernels; "
        "importlib.import_module('simlab.kernels.gram.stored'); from simlab.kernels import gram, ntk; "
        "assert kernels.gram is gram; print(kernels.gram([ntk(2)], [[1.0, 0.0]])[0][0, 0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2.0", done.stderr
