"""What ``k(…)`` means: cosines in a number or a vector, inputs in matrices, as scikit-learn's kernels have it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from simlab import activations, kernels, networks
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.kernels import laplace, nngp, ntk, polynomial, residual

X, Y = np.split(np.random.default_rng(3).standard_normal((12, 4)), [7])
ON_SPHERE = X / np.linalg.norm(X, axis=1, keepdims=True)
KERNELS = [choose("kernels", {"kind": kind, **table}, "kernel") for kind, table in catalogue.all_examples("kernels")]
COMBINED = [0.5 * ntk(3) + laplace(1.0), ntk(2) * laplace(2.0), 3.0 * nngp(4)]


def relu_ntk(A, B):
    """Θ² of a ReLU net from the angle of each pair: ‖a‖‖b‖(κ₁ + u κ₀), by arccos alone."""
    norms = np.linalg.norm(A, axis=1)[:, None] * np.linalg.norm(B, axis=1)
    u = np.clip(A @ B.T / norms, -1.0, 1.0)
    angle = np.arccos(u)
    return norms * ((np.sin(angle) + (np.pi - angle) * u) / np.pi + u * (1.0 - angle / np.pi))


def test_a_matrix_is_data():
    """Also where every entry could be a cosine: rows on the sphere."""
    for data in (X, ON_SPHERE, np.eye(3), np.array([[0.5]])):
        assert ntk(2)(data) == pytest.approx(relu_ntk(data, data), abs=1e-7)  # arccos near 1 has half the digits
    assert ntk(2)(X, Y) == pytest.approx(relu_ntk(X, Y), rel=1e-12)
    assert laplace(1.5)(X, Y) == pytest.approx(np.exp(-1.5 * np.sqrt(((X[:, None] - Y) ** 2).sum(-1) / 2)), rel=1e-12)
    assert ntk(2)(X).shape == (7, 7)
    assert ntk(2)(X, Y).shape == (7, 5)


@pytest.mark.parametrize("kernel", KERNELS + COMBINED, ids=repr)
def test_every_kernel_is_called_so(kernel):
    assert np.array_equal(kernel(X), kernel.gram(X))
    assert np.array_equal(kernel(X, Y), kernel.gram(X, Y))
    assert np.array_equal(kernel(X, Y=Y), kernel(X, Y))
    assert kernel(X[0], Y[0]) == pytest.approx(kernel(X, Y)[0, 0], rel=1e-13, abs=1e-13)
    u = np.linspace(-1, 1, 6)
    assert kernel(u).shape == (6,)
    assert kernel(u).tolist() == [kernel(float(c)) for c in u]
    assert np.array_equal(kernel.at_cosines(u.reshape(2, 3)), kernel(u).reshape(2, 3))


def test_what_gram_takes_a_call_takes():
    pandas = pytest.importorskip("pandas")
    for data in (X.tolist(), tuple(map(tuple, X)), pandas.DataFrame(X), np.asfortranarray(X)):
        assert np.array_equal(ntk(3)(data), ntk(3)(X))
    assert np.array_equal(ntk(3)(np.eye(3, dtype=int)), ntk(3)(np.eye(3)))
    assert ntk(3)(X[:0]).shape == (0, 0)
    assert ntk(3)(pandas.Series([0.5, 1.0])).tolist() == ntk(3)([0.5, 1.0]).tolist()
    assert ntk(3)([]).shape == (0,)
    assert ntk(3)(1) == ntk(3)(1.0)


class Sparse:
    """What tells a sparse matrix of scipy from others."""

    def tocsr(self):
        return self


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((X[None],), "an argument of shape (1, 7, 4): a kernel takes cosines"),
        ((X, Y[None]), "arguments of shapes (7, 4) and (1, 5, 4)"),
        ((X, Y[:, :3]), "X has 4 columns and Y 3: they must agree"),
        ((X[0], Y[0, :3]), "X has 4 columns and Y 3: they must agree"),
        ((X[0], Y), "arguments of shapes (4,) and (5, 4)"),
        ((X, Y[0]), "arguments of shapes (7, 4) and (4,)"),
        ((0.5, Y), "arguments of shapes () and (5, 4)"),
        ((0.5, 0.5), "arguments of shapes () and ()"),
        ((np.full((2, 2), np.nan),), "row 0 of the inputs is not finite"),
        (([[1.0, 2.0], [3.0]],), "X: rows of different lengths"),
        ((X, [[1.0, 2.0], [3.0]]), "Y: rows of different lengths"),
        ((Sparse(),), "X is sparse: must be dense, such as X.toarray()"),
        ((X, Sparse()), "Y is sparse"),
        ((X * 1j,), "X has dtype complex128: must be real numbers"),
        (([["a", "b"]],), "must be real numbers"),
        ((np.ones((3, 0)),), "at least one coordinate"),
        (([1.5, 0.0],), "u = 1.5: a cosine must lie in [-1, 1]; inputs are the rows of a matrix, k(X)"),
        (("abc",), "X has dtype <U3, such as 'abc': must be real numbers"),
        ((None,), "X = None: argument must be no string"),
    ],
)
def test_what_is_refused_is_said_in_a_line(given, says):
    with pytest.raises(BadInput) as refused:
        ntk(3)(*given)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_sparse_data_have_no_gram_matrix():
    with pytest.raises(BadInput, match=r"Y is sparse"):
        ntk(3).gram(X, Sparse())


def test_scikit_learn_takes_a_kernel_for_its_own():
    """SVR calls with matrices, KernelRidge and pairwise_kernels with one pair of rows at a time."""
    svm = pytest.importorskip("sklearn.svm")
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.metrics.pairwise import pairwise_kernels

    kernel, y = 0.5 * ntk(3) + laplace(1.0), X[:, 0]
    by_matrix = svm.SVR(kernel="precomputed").fit(kernel.gram(X), y).predict(kernel.gram(Y, X))
    assert svm.SVR(kernel=kernel).fit(X, y).predict(Y) == pytest.approx(by_matrix, rel=1e-10)
    assert pairwise_kernels(X, Y, metric=kernel) == pytest.approx(kernel.gram(X, Y), rel=1e-12)
    alpha = np.linalg.solve(kernel.gram(X) + 0.1 * np.eye(7), y)
    ridge = KernelRidge(alpha=0.1, kernel=kernel).fit(X, y).predict(Y)
    assert ridge == pytest.approx(kernel.gram(Y, X) @ alpha, rel=1e-9)


# Functions as activations


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.tanh, "tanh"),
        (math.tanh, "tanh"),
        (np.sin, "sin"),
        (np.cos, "cos"),
        (np.exp, "exp"),
        (np.abs, "abs"),
        (abs, "abs"),
        (math.erf, "erf"),
        ("scipy.special", "erf"),
    ],
)
def test_a_known_function_is_the_activation_of_its_name(function, name):
    if isinstance(function, str):
        function = getattr(pytest.importorskip(function), name)
    assert ntk(3, function) == ntk(3, name)
    assert nngp(3).set_params(activation=function) == nngp(3, name)
    assert kernels.get("residual", depth=2, activation=function) == residual(2, name)
    assert networks.get("two_layer", width=3, activation=function).activation == activations.get(name)
    assert pickle.loads(pickle.dumps(ntk(3, function))) == ntk(3, name)


def test_each_function_has_the_values_of_its_activation():
    known = [(cls, pair) for cls in activation_classes() for pair in cls.python_functions().items()]
    assert len(known) > 10
    for cls, (function, fields) in known:
        z = np.array([-1.3, -0.2, 0.4, 2.0])
        assert cls(**fields)(z) == pytest.approx([float(function(v)) for v in z], rel=1e-14), function


def activation_classes():
    return [catalogue.get("activations", kind) for kind in catalogue.names("activations")]


def test_the_module_of_an_activation_is_its_name():
    assert ntk(3, activations.tanh) == ntk(3, "tanh")
    with pytest.raises(BadInput, match=r"ntk\.activation\.degree: missing"):
        ntk(3, activations.monomial)
    with pytest.raises(BadInput, match=r"ntk\.activation = <module 'math'.*: must be a table"):
        ntk(3, math)


def bump(z):
    return z * np.exp(-z * z)


def relu(z):
    return max(z, 0.0)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (bump, "ntk.activation = bump: a function; give activations.custom(bump, dphi=None, kinks=()), with every"),
        (relu, 'ntk.activation = relu: a function; give the name "relu", or activations.custom(relu'),
        (np.maximum, "ntk.activation = maximum: takes 2 numbers; give a function of one: activations.custom(lambda z:"),
        (polynomial, "ntk.activation = polynomial: a function"),
    ],
)
def test_another_function_is_refused_with_the_way(function, says):
    with pytest.raises(BadInput) as refused:
        ntk(3, function)
    assert says in str(refused.value)
    assert "jumps in kinks" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_and_the_way_works():
    """bump by Gauss–Hermite: E φ(z)φ(z') at u = 0.3, over E φ(z)²."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    mixed = 0.3 * nodes[:, None] + math.sqrt(1 - 0.09) * nodes
    expected = weights @ (bump(nodes)[:, None] * bump(mixed)) @ weights / (weights @ bump(nodes) ** 2)
    assert nngp(2, activations.custom(bump))(0.3) == pytest.approx(expected, rel=1e-9)
