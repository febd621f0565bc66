"""Exact population risk of two-layer ReLU nets on ReLU teachers, to 1e-30, and its gradient, for arrays. MATH §7.

    R = ½ E (Σ_j a_j σ(w_j·x) − Σ_k c_k σ(v_k·x))² = (μ/4) Σ_ij b_i b_j F_ij,    F_ij = (s_ij + (π − θ_ij) p_ij)/π,

b = (a, −c), u = (w, v), p_ij = u_i·u_j = n_i n_j cos θ_ij, s_ij = √(n_i² n_j² − p_ij²) = n_i n_j sin θ_ij, and
μ = E x_1²: r²/d for x uniform on the sphere of radius r, s² for x ~ N(0, s²I).

Near recovery R is a difference of large numbers. Everything from the products of weights on is therefore computed in
double-double arithmetic: the error is about 1e-30 μ (Σ|b_i|n_i)², so that a risk of 1e-20 is known to ten digits.
The gradient is that of `simlab.networks.population`, accurate to 1e-15 of its terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64
from numpy.typing import NDArray

from simlab.core import catalogue, checks
from simlab.core import double_double as dd
from simlab.core.errors import BadInput, one_of
from simlab.core.jit import jit
from simlab.data.law import Law
from simlab.networks.population import risk_and_gradient

Floats = NDArray[np.float64]
ON_SPHERE = 1e-9  # relative difference of norms that rounding may make


@jit
def _dot(x: Floats, y: Floats) -> tuple[float, float]:
    """x·y as if in twice the digits: Ogita, Rump and Oishi's Dot2."""
    total, rest = 0.0, 0.0
    for k in range(x.size):
        product, e = dd.two_prod(x[k], y[k])
        total, f = dd.two_sum(total, product)
        rest += e + f
    return dd.two_sum(total, rest)


@jit(signatures=[float64(float64[::1], float64[:, ::1])])
def _quadratic(b: Floats, U: Floats) -> float:
    """Σ_ij b_i b_j F_ij"""
    p = b.size
    squares = np.empty((p, 2))
    total = (0.0, 0.0)
    for i in range(p):
        squares[i] = _dot(U[i], U[i])
        total = dd.add(total, dd.mul(dd.two_prod(b[i], b[i]), (squares[i, 0], squares[i, 1])))
    for i in range(p):
        for j in range(i):
            square = dd.mul((squares[i, 0], squares[i, 1]), (squares[j, 0], squares[j, 1]))
            if square[0] > 0.0:
                product = _dot(U[i], U[j])
                sine = dd.sqrt(dd.add(square, dd.neg(dd.mul(product, product))))
                left = dd.add(dd.PI, dd.neg(dd.angle(sine, product, dd.sqrt(square))))
                F = dd.div(dd.add(sine, dd.mul(left, product)), dd.PI)
                total = dd.add(total, dd.mul(dd.two_prod(2.0 * b[i], b[j]), F))
    return total[0]


def second_moment(law: Law | Floats) -> float:
    """μ of a rotation-invariant law of inputs, or of the uniform law on the sphere that given inputs (n, d) lie on.

    No other law has such a closed form, so that others, and inputs off a sphere, are refused.
    """
    if isinstance(law, Law):
        if (mu := law.second_moment()) is None:
            able = catalogue.able("data", lambda kind: kind.rotation_invariant and not kind.heavy_tail)
            raise BadInput(f"law = {law.kind!r}: no exact population risk under this law (allowed: {one_of(able)})")
        return mu
    X = _floats("law", law, 2)
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    if not len(norms) or not norms[0] > 0.0:
        raise BadInput("law: inputs must be at least one row (n, d), none of them 0")
    if (off := np.abs(norms / norms[0] - 1.0)).max() > ON_SPHERE:
        i = int(off.argmax())
        raise BadInput(
            f"law: row {i} of the inputs has norm {norms[i]:.6g} and row 0 norm {norms[0]:.6g}: "
            "inputs must lie on one sphere about 0"
        )
    return float(norms[0] ** 2 / X.shape[1])


def risk(a: Floats, W: Floats, c: Floats, V: Floats, law: Law | Floats) -> float:
    """R of the student Σ a_j relu(w_j·x), W : (m, d), on the teacher Σ c_k relu(v_k·x), V : (k, d)."""
    a, W, c, V, mu = _checked(a, W, c, V, law)
    return exact_risk(a, W, c, V, mu)


def exact_risk(a: Floats, W: Floats, c: Floats, V: Floats, mu: float) -> float:
    """The same for arrays known to fit, with μ given; rounding alone would make it negative.

    Powers of 2 go from the neurons to their coefficients and out of these: fourth powers of norms are formed.
    """
    b, U = np.concatenate([a, -c]), np.concatenate([W, V])
    _, sizes = np.frexp(np.abs(U).max(axis=1, initial=0.0))
    mantissas, exponents = np.frexp(b)
    exponents = np.where((mantissas != 0.0) & U.any(axis=1), exponents + sizes, np.iinfo(np.int32).min // 2)
    top = int(exponents.max(initial=np.iinfo(np.int32).min // 2))
    with np.errstate(under="ignore"):
        total = _quadratic(np.ldexp(mantissas, exponents - top), np.ldexp(U, -sizes[:, np.newaxis]))
        return max(float(np.ldexp(0.25 * mu * total, 2 * top)), 0.0)


def risk_gradient(a: Floats, W: Floats, c: Floats, V: Floats, law: Law | Floats) -> tuple[Floats, Floats]:
    """(∂R/∂a (m,), ∂R/∂W (m, d)); a row of W that is 0 has a gradient of 0."""
    a, W, c, V, mu = _checked(a, W, c, V, law)
    return risk_and_gradient(a, W, c, V, 1.0, mu)[1:]


def _floats(name: str, value: Any, ndim: int) -> Floats:
    return np.ascontiguousarray(checks.array(value, name, ndim=ndim))


def _checked(a: Any, W: Any, c: Any, V: Any, law: Any) -> tuple[Floats, Floats, Floats, Floats, float]:
    a, W, c, V = _floats("a", a, 1), _floats("W", W, 2), _floats("c", c, 1), _floats("V", V, 2)
    for name, coefficients, rows in (("a", a, W), ("c", c, V)):
        if len(coefficients) != len(rows):
            raise BadInput(f"{name}: {len(coefficients)} numbers; must be {len(rows)}, one per neuron")
    if V.shape[1] != W.shape[1]:
        raise BadInput(f"V: shape {V.shape}; must be (k, {W.shape[1]}), of the dimension of W")
    mu = second_moment(law)
    dim = law.dimension() if isinstance(law, Law) else np.shape(law)[1]
    if dim != W.shape[1]:
        raise BadInput(f"law: inputs in R^{dim}; must be in R^{W.shape[1]}, as the neurons are")
    return a, W, c, V, mu
