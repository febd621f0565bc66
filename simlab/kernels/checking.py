"""`simlab.kernels.check`: does a kernel keep its contract? Its values, Gram matrices, spectrum and end points."""

from __future__ import annotations

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from simlab.core.checking import check_value, ensure
from simlab.kernels.gram.assembly import gram
from simlab.kernels.kernel import Kernel, Leaf, Pairs

Floats = NDArray[np.float64]
DIM = 4
ROWS = 40
COSINES = np.linspace(-1.0, 1.0, 41)
ARB_BITS = 200
# Largest differences, relative to the largest value.
CLOSE = 1e-12  # two ways to a Gram matrix: 1e-13 of the tables, and the rounding of a cosine
CLOSER = 1e-13  # two Gram matrices of the same pairs; float64 and Arb


def check(kernel: Kernel) -> None:
    """Raise AssertionError, with one line that says what is wrong, if the kernel breaks the contract."""
    check_value(kernel, Kernel)
    ensure(type(kernel)(**kernel.get_params()) == kernel, f"{kernel!r}: get_params() makes another kernel")
    ensure(kernel.set_params() == kernel, f"{kernel!r}: set_params() without fields makes another kernel")
    ensure(kernel.leaves(), f"{kernel!r}: has no leaves")
    for leaf in kernel.leaves():
        _check_leaf(leaf)
    _check_gram(kernel)
    _check_profile(kernel)
    _check_terms(kernel)
    _check_spectrum(kernel)


def _data(radius: float | None) -> Floats:
    """Points of R^DIM: on a sphere, or anywhere; two of them the same, one a multiple of another, one opposite."""
    X: Floats = np.random.default_rng(0).standard_normal((ROWS, DIM))
    if radius is not None:
        X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
        X[2] = -X[0]
    else:
        X[2] = -1.5 * X[0]
    X[1] = X[0]
    return X


def _apart(A: Floats, B: Floats) -> float:
    """The largest difference, relative to the largest value."""
    return float(np.max(np.abs(A - B)) / max(np.max(np.abs(A)), np.finfo(np.float64).tiny))


def _check_gram(kernel: Kernel) -> None:
    """The Gram matrix is symmetric and positive semi-definite, and agrees with what else gives its entries."""
    name = repr(kernel)
    for X in (_data(1.0), _data(None)):
        K = kernel.gram(X)
        ensure(K.shape == (ROWS, ROWS), f"{name}: gram of {ROWS} inputs has shape {K.shape}")
        ensure(np.all(np.isfinite(K)), f"{name}: gram has entries that are not finite")
        ensure(np.array_equal(K, K.T), f"{name}: gram is not symmetric")
        ensure(np.array_equal(K, gram([kernel], X)[0]), f"{name}: k.gram(X) and gram([k], X) differ")
        smallest, largest = np.linalg.eigvalsh(K)[[0, -1]]
        ensure(
            smallest >= -1e-12 * np.trace(K), f"{name}: gram has the eigenvalue {smallest:.3g}, largest {largest:.3g}"
        )
        apart = _apart(np.diag(K), kernel.diagonal(X))
        ensure(apart <= CLOSE, f"{name}: diagonal(X) differs from gram(X)'s by {apart:.3g} of it")
        apart = _apart(K[:3], kernel.gram(X[:3], X))
        ensure(apart <= CLOSER, f"{name}: gram(X[:3], X) differs from the rows of gram(X) by {apart:.3g} of them")
        apart = _apart(K[:5, :5], np.array([[kernel(x, y) for y in X[:5]] for x in X[:5]]))
        ensure(apart <= CLOSE, f"{name}: k(x, y) differs from gram(X) by {apart:.3g} of it")


def _check_profile(kernel: Kernel) -> None:
    """κ(u) is K on the sphere: of radius 1, or of radius √d where K depends on d."""
    name = repr(kernel)
    u = COSINES
    on_root_d = any(leaf.depends_on_dim() for leaf in kernel.leaves())
    if on_root_d and not all(leaf.depends_on_dim() for leaf in kernel.leaves()):
        return  # κ mixes two spheres
    radius = np.sqrt(2.0) if on_root_d else 1.0
    X = radius * np.stack([u, np.sqrt(1.0 - u * u)], axis=1)
    apart = _apart(kernel(u), kernel.gram(X, np.array([[radius, 0.0]]))[:, 0])
    ensure(apart <= CLOSE, f"{name}: κ(u) differs from K on the sphere of radius {radius:.3g} by {apart:.3g} of it")
    ensure(kernel(float(u[4])) == kernel(u)[4], f"{name}: κ of a number and of a vector differ")
    degree = kernel.polynomial_degree()
    if degree is not None and degree <= 30:
        x = np.cos(np.linspace(0.0, np.pi, 60))
        fit = np.polynomial.Chebyshev.fit(x, kernel(x), degree)(x)
        ensure(_apart(kernel(x), fit) < 1e-11, f"{name}: κ is not a polynomial of degree {degree}")


def _check_terms(kernel: Kernel) -> None:
    """Σ a K over linear_terms() is the kernel, and so is what `combine` makes of its leaves."""
    name, X = repr(kernel), _data(1.0)
    K = kernel.gram(X)
    apart = _apart(K, np.sum([scale * term.gram(X) for scale, term in kernel.linear_terms()], axis=0))
    ensure(apart <= CLOSE, f"{name}: Σ a K over linear_terms() differs from it by {apart:.3g}")
    apart = _apart(K, kernel.combine({leaf: leaf.gram(X) for leaf in kernel.leaves()}))
    ensure(apart <= CLOSE, f"{name}: combine() of its leaves differs from it by {apart:.3g}")


def _check_leaf(leaf: Leaf) -> None:
    """What a kernel that evaluates itself says of itself."""
    name = repr(leaf)
    t = 1.0 - COSINES
    values = leaf.evaluate([leaf, leaf], Pairs.on_sphere(1.0, t, 2.0 - t, 1))
    ensure(values.shape == (2, t.size), f"{name}: evaluate gives shape {values.shape} for 2 leaves and {t.size} pairs")
    ensure(np.array_equal(values[0], values[1]), f"{name}: evaluate gives two equal leaves different values")
    # Not by gram, which goes by what is checked here.
    if (h := leaf.homogeneity()) is not None:
        apart = _apart(9.0**h * values[0], leaf.evaluate([leaf], Pairs.on_sphere(3.0, t, 2.0 - t, 1))[0])
        ensure(apart <= CLOSE, f"{name}: K(3x, 3y) is not 9^{h} K(x, y), as homogeneity() says")
    if not leaf.depends_on_dim():
        apart = _apart(values[0], leaf.evaluate([leaf], Pairs.on_sphere(1.0, t, 2.0 - t, 3))[0])
        ensure(apart <= CLOSE, f"{name}: another dimension changes it, and depends_on_dim() says no")
    if leaf.has_arb():
        inner = COSINES[1:-1]
        with ctx.workprec(ARB_BITS):
            exact = [float(value) for value in [*leaf.profile_arb([arb(float(u)) for u in inner]), leaf.at_one_arb()]]
        apart = _apart(np.array(exact), leaf(np.array([*inner, 1.0])))
        ensure(apart <= CLOSER, f"{name}: profile_arb and at_one_arb differ from κ by {apart:.3g} of it")


def _check_spectrum(kernel: Kernel) -> None:
    """Eigenvalues are those of MATH §4: Σ N(k) μ_k = κ(1) for a polynomial, μ_k ≥ 0, and 0 above its degree."""
    if not all(leaf.has_arb() for leaf in kernel.leaves()):
        return
    name, degree = repr(kernel), kernel.polynomial_degree()
    top = 12 if degree is None else min(degree + 3, 40)
    found = kernel.spectrum(DIM, top)
    ensure(np.all(found.eigenvalues >= 0.0), f"{name}: an eigenvalue on the sphere is negative: {found.eigenvalues}")
    trace = float(sum(m * mu for m, mu in zip(found.multiplicities, found.eigenvalues, strict=True)))
    one = float(kernel(1.0))
    ensure(trace <= one * (1 + 1e-10), f"{name}: Σ N(k) μ_k = {trace} is more than κ(1) = {one}")
    if degree is not None and degree < top:
        ensure(abs(trace - one) <= 1e-10 * one, f"{name}: Σ N(k) μ_k = {trace}, but κ(1) = {one}")
        ensure(not np.any(found.eigenvalues[degree + 1 :]), f"{name}: eigenvalues above degree {degree} are not 0")
