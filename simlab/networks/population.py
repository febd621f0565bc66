"""Exact population risk of a two-layer ReLU network on a ReLU teacher, and its gradient: no samples. MATH §7.

With f = s Σ_j a_j relu(w_j·x), g = Σ_k c_k relu(v_k·x), u = (w_1 … w_m, v_1 … v_k) and b = (α s a, −c):

    R = ½ E (α f − g)² = (μ/4) Σ_ij b_i b_j n_i n_j κ1(θ_ij),       n_i = ‖u_i‖, θ_ij the angle of u_i and u_j,

    ∂R/∂b_i = (μ/2) n_i Σ_j b_j n_j κ1_ij,    ∂R/∂u_i = (μ/2) b_i [û_i Σ_j b_j n_j sin θ_ij/π + Σ_j b_j κ0_ij u_j],

where μ = E x_1² = r²/d for x uniform on the sphere of radius r, s² for x ~ N(0, s²I): E σ(w·x)σ(v·x) = μ‖w‖‖v‖κ1/2.

Accuracy. κ1 = cos θ + S/π with S = sin θ − θ cos θ: Σ b_i b_j n_i n_j κ1 = ‖Σ b_i u_i‖² + Σ b_i b_j n_i n_j S/π. The
first term is a sum of squares, also near recovery. Rounding leaves about 1e-16 μ (Σ|b_i|n_i)² in R, which is why
there is `simlab.theory.population`, and 1e-16 of the terms in the gradient, so that descent goes on far below that.
Angles come from u_i·u_j. Below NEAR_RADIANS or above π − NEAR_RADIANS these would keep half of their digits; there
‖û_i ∓ û_j‖ is used instead, at d operations per pair.

A neuron with w = 0 adds nothing to f. R has a kink there; its part of the gradient is taken as 0, as σ'(0) = 0 would
give: such a neuron does not move. Cost: two products of (m + k)² d flops, and (m + k)²/2 angles at some 20 ns each.

`gradient` has the signature of every network's gradient (`simlab.networks.signature`), with other arrays for the data;
the loss is the squared one, whatever is given:

- X: the teacher's neurons v : (k, d);
- Y: the teacher's coefficients c : (k, 1);
- sizes: (m, d, 1 if the first layer is trained, 1 if the second is);
- numbers: (s, μ);
- scratch: U (m + k, d) | û (m + k, d) | products (m + k, m + k) | b | n | Σ sin | Σ S, m + k each | Σ b_i u_i (d,).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float64
from numpy.typing import NDArray

from simlab.activations.angles import angles, sine_minus_angle_cosine
from simlab.activations.relu import ReLU
from simlab.core.jit import jit
from simlab.losses.tiles import given
from simlab.networks.signature import GRADIENT, Goal, Net, Rows

Floats = NDArray[np.float64]
NEAR_RADIANS = 0.05  # a product's 1e-16·√d is then at most 1e-14 of an angle


def scratch_size(width: int, dim: int, teachers: int) -> int:
    """Floats of scratch space: u and û, the products, four numbers per neuron, and Σ b_i u_i."""
    neurons = width + teachers
    return 2 * neurons * dim + neurons * neurons + 4 * neurons + dim


@jit(fastmath={"reassoc", "contract"})  # a sum of squares in any order
def _gap(x: Floats, y: Floats, sign: float) -> float:
    """1 + sign × cosine of the unit vectors x and y, from their sum or their difference."""
    total = 0.0
    for k in range(x.size):
        total += (x[k] + sign * y[k]) * (x[k] + sign * y[k])
    return 0.5 * total


@jit
def _norm(x: Floats) -> float:
    """‖x‖ of a vector whose squares may underflow or overflow."""
    largest, total = 0.0, 0.0
    for k in range(x.size):
        largest = max(largest, abs(x[k]))
    if not 0.0 < largest < np.inf:
        return largest
    for k in range(x.size):
        total += (x[k] / largest) ** 2
    return largest * math.sqrt(total)


@jit(signatures=[GRADIENT(float64)])
def gradient(act: Any, loss: Any, net: Net, rows: Rows, goal: Goal, out: Floats, scratch: Floats) -> float:
    (m, d), X, y, sizes = net.sizes[:2], rows.X, rows.Y, net.sizes
    p = m + X.shape[0]
    a, W = net.theta[:m], net.theta[m:].reshape(m, d)
    scale, mu = goal.alpha * net.numbers[0], net.numbers[1]
    U = scratch[: p * d].reshape(p, d)
    units = scratch[p * d : 2 * p * d].reshape(p, d)
    C = scratch[2 * p * d : 2 * p * d + p * p].reshape(p, p)  # cosines; then C[i, j] = b_j κ0_ij
    rest = scratch[2 * p * d + p * p :]
    b, n, sines, bends, q = rest[:p], rest[p : 2 * p], rest[2 * p : 3 * p], rest[3 * p : 4 * p], rest[4 * p : 4 * p + d]
    U[:m] = W
    U[m:] = X
    q[:] = 0.0
    for i in range(p):
        b[i] = scale * a[i] if i < m else -y[i - m, 0]
        sines[i], bends[i], square = 0.0, 0.0, 0.0
        for k in range(d):
            square += U[i, k] * U[i, k]
            q[k] += b[i] * U[i, k]
        n[i] = math.sqrt(square)
        if not 1e-280 < square < 1e280:  # squares that lose digits
            n[i] = _norm(U[i])
        for k in range(d):
            units[i, k] = U[i, k] / n[i] if n[i] > 0.0 else 0.0
    np.dot(units, units.T, C)
    near = 2.0 * math.sin(0.5 * NEAR_RADIANS) ** 2
    bent = 0.0
    for i in range(p):
        C[i, i] = b[i]
        for j in range(i):
            if n[i] == 0.0 or n[j] == 0.0:  # no angle
                C[i, j], C[j, i] = 0.0, 0.0
                continue
            t, s = 1.0 - C[i, j], 1.0 + C[i, j]
            if t < near:
                t = _gap(units[i], units[j], -1.0)
                s = 2.0 - t
            elif s < near:
                s = _gap(units[i], units[j], 1.0)
                t = 2.0 - s
            angle, rest_of_pi = angles(t, s)
            sine, bend = math.sqrt(t * s), sine_minus_angle_cosine(angle, t, s)
            sines[i] += b[j] * n[j] * sine
            sines[j] += b[i] * n[i] * sine
            bends[i] += b[j] * n[j] * bend
            bends[j] += b[i] * n[i] * bend
            C[i, j], C[j, i] = b[j] * rest_of_pi / math.pi, b[i] * rest_of_pi / math.pi
    square = 0.0
    for k in range(d):
        square += q[k] * q[k]
    for i in range(p):
        bent += b[i] * n[i] * bends[i]
    if sizes[3] == 1:
        for i in range(m):
            out[i] = 0.0
            for k in range(d):
                out[i] += U[i, k] * q[k]
            out[i] = 0.5 * mu * scale * (out[i] + n[i] * bends[i] / math.pi)
    if sizes[2] == 1:
        into = out[m:].reshape(m, d)
        np.dot(C[:m], U, into)
        for i in range(m):
            for k in range(d):
                into[i, k] = 0.5 * mu * b[i] * (into[i, k] + units[i, k] * sines[i] / math.pi)
            if n[i] == 0.0:
                into[i] = 0.0
    risk = 0.25 * mu * (square + bent / math.pi)
    return 0.0 if risk < 0.0 else risk  # rounding alone makes it negative


def risk_and_gradient(
    a: Floats, W: Floats, c: Floats, V: Floats, scale: float, mu: float
) -> tuple[float, Floats, Floats]:
    """R, ∂R/∂a : (m,) and ∂R/∂W : (m, d), for arrays known to fit and α = 1.

    a, W: the network's coefficients (m,) and neurons (m, d).
    c, V: the teacher's, (k,) and (k, d).
    scale: s.
    mu: E x_1².
    """
    (m, d), (act, phi) = W.shape, ReLU().tile()
    theta, out = np.concatenate([a, W.ravel()]), np.empty(m * (d + 1))
    net = Net(theta, np.array([m, d, 1, 1]), np.array([scale, mu]), phi, 0, theta.size, 1)
    rows, goal = Rows(V, c[:, np.newaxis]), Goal(1.0, 1, np.zeros(0))
    risk: float = gradient(act, given, net, rows, goal, out, np.empty(scratch_size(m, d, len(V))))
    return risk, out[:m], out[m:].reshape(m, d)
