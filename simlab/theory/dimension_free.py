"""Two-layer nets of mean-field scaling on a few of very many signs: the dimension-free dynamics. MATH §9.

Of x uniform on {±1}^d the target sees P coordinates z. As d and the width grow, a neuron's w·x becomes u·z + sG, G
standard normal, u its weights at z and s the norm of the others, and one-pass SGD of small steps the flow of particles

    f(z) = E_ρ a E_G σ(u·z + sG),   e = f − f*,
    ȧ = −E[e σ],   u̇ = −a E[e σ' z],   ṡ = −a E[e σ' G],                     start u = 0,

the gradient flow of R = ½E e² in the time of particles (ȧ_i = −m ∂R/∂a_i for m particles of equal weight). Here on
all 2^P points, exactly: for ReLU with a shift, x = u·z + b, E_Gσ = xΦ(x/s) + sϕ(x/s), E_Gσ' = Φ(x/s), E_Gσ'G = ϕ(x/s);
for a smooth σ by the trapezoid rule in G, which is better than Gauss–Hermite for a σ with poles such as tanh.

The flow of a ReLU is not smooth: a neuron whose kink comes to a point z (x = 0) loses its s there in finite time and
slides along the kink, where σ' jumps. An adaptive solver would then take steps without end; steps of a given length h
(Runge–Kutta of order 4) go on with an error of order h: risks of relu(x + 1) on z₁ + z₁z₂ + z₁z₂z₃ up to t = 80 agree
to 1 % between h = 0.1 and 0.01. Smooth activations have no such trouble.

**Zeros stay zeros.** A target that is not a merged staircase leaves some u_j at 0, an invariant but unstable set: a
rounding error there may grow like exp(ct), as for z₁ + z₁z₂z₃. Expectations are therefore sums of pairs, one coordinate
after the other (`_pair_up`): v(+) + v(−), or v(+) − v(−) at the coordinate j of z_j. Let g(z) = eσ' keep its bits when
the signs of z in a set H change, as it does where u is 0 on H and every monomial of f* has an even number of its
coordinates in H. Such a change swaps terms of each sum, which does not change it (addition is commutative in floating
point too), and turns the difference into its negative: E[g z_j], j ∈ H, equals its negative bit for bit, and is 0.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import float64, types, void
from numpy.typing import ArrayLike, NDArray

from simlab import activations
from simlab.activations import Activation
from simlab.activations.signature import PHI
from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.jit import jit
from simlab.theory._integration import adaptive, by_steps
from simlab.theory.leap import checked_table, points, walsh

Floats = NDArray[np.float64]
MOST_COORDINATES = 12
NODES = 64  # in G, within ±REACH_DEVIATIONS
REACH_DEVIATIONS = 8.5  # of the standard normal G


@dataclass(frozen=True)
class Particles:
    """The neurons in the limit of many signs.

    a: (m,) outer weights.
    u: (m, P) weights at the coordinates z that the target sees.
    s: (m,) norms of the other weights.
    """

    a: Floats
    u: Floats
    s: Floats


@dataclass(frozen=True)
class Course:
    """The flow at given times.

    times: (T,)
    risk: ½E e² (T,)
    f: (T, 2^P), at the `leap.points`.
    end: the particles at the last time.
    """

    times: Floats
    risk: Floats
    f: Floats
    end: Particles

    @property
    def coefficients(self) -> Floats:
        """f̂_S = E f χ_S : (T, 2^P), S as in `leap.members`"""
        return np.array([walsh(row) for row in self.f])


@jit
def _pair_up(v: Floats, out: Floats) -> None:
    """out[j] = E v z_j over the 2^P points, and v[0] = Σ v; the rest of v is overwritten.

    The order of the sums matters, see "Zeros stay zeros": points that differ in coordinate 0 alone lie side by side,
    (v[0], v[1]), (v[2], v[3]) …, and once they are added those that differ in coordinate 1, and so on.
    """
    size, scale = v.size, 1.0 / v.size
    rest = np.empty(size // 2)
    for j in range(out.size):
        half = size // 2
        for i in range(half):
            rest[i] = v[2 * i] - v[2 * i + 1]
            v[i] = v[2 * i] + v[2 * i + 1]
        size, left = half, half
        while left > 1:
            left //= 2
            for i in range(left):
                rest[i] = rest[2 * i] + rest[2 * i + 1]
        out[j] = scale * rest[0]


@jit(signatures=[void(float64[:, ::1], float64[::1], float64[:, ::1], float64, *[float64[:, ::1]] * 3)])
def _relu_means(u: Floats, s: Floats, z: Floats, shift: float, H: Floats, D: Floats, K: Floats) -> None:
    """E_Gσ, E_Gσ' and E_Gσ'G : (m, 2^P), σ(x) = max(x + shift, 0)"""
    for i in range(u.shape[0]):
        size = abs(s[i])
        for k in range(z.shape[0]):
            x = 0.0
            for j in range(u.shape[1]):
                x += u[i, j] * z[k, j]
            x += shift
            if size == 0.0:
                H[i, k], D[i, k], K[i, k] = max(x, 0.0), 1.0 if x > 0.0 else 0.0, 0.0
            else:
                r = x / size
                D[i, k] = 0.5 * math.erfc(-r / math.sqrt(2.0))
                density = math.exp(-0.5 * r * r) / math.sqrt(2.0 * math.pi)
                H[i, k] = x * D[i, k] + size * density
                K[i, k] = math.copysign(density, s[i])


_PHI = types.FunctionType(PHI)


@jit(
    signatures=[
        void(
            _PHI, _PHI, float64[::1], types.UniTuple(float64[::1], 2), float64[:, ::1], float64[::1], float64[:, ::1],
            types.UniTuple(float64[:, ::1], 3),
        )
    ]
)  # fmt: skip
def _smooth_means(
    phi: Any,
    dphi: Any,
    a: Floats,
    rule: tuple[Floats, Floats],
    u: Floats,
    s: Floats,
    z: Floats,
    means: tuple[Floats, Floats, Floats],
) -> None:
    """The same for a smooth σ, by the rule (G, p) of nodes and weights. means: (E_Gσ, E_Gσ', E_Gσ'G)."""
    (G, p), (H, D, K) = rule, means
    for i in range(u.shape[0]):
        for k in range(z.shape[0]):
            x, h, d, g = 0.0, 0.0, 0.0, 0.0
            for j in range(u.shape[1]):
                x += u[i, j] * z[k, j]
            for q in range(G.size):
                y = x + s[i] * G[q]
                slope = p[q] * dphi(y, a)
                h += p[q] * phi(y, a)
                d += slope
                g += slope * G[q]
            H[i, k], D[i, k], K[i, k] = h, d, g


@jit(signatures=[void(float64[::1], *[float64[:, ::1]] * 3, *[float64[::1]] * 2, float64[:, ::1])])
def _velocity(a: Floats, H: Floats, D: Floats, K: Floats, f: Floats, target: Floats, out: Floats) -> None:
    """f(z), and out : (m, P + 2), the velocities of (a, u, s) of each particle."""
    m, size = H.shape
    f[:] = 0.0
    for i in range(m):
        for k in range(size):
            f[k] += a[i] * H[i, k]
    error, v = np.empty(size), np.empty(size)
    for k in range(size):
        f[k] /= m
        error[k] = f[k] - target[k]
    count = out.shape[1] - 2
    slopes = np.empty(count)
    for i in range(m):
        for k in range(size):
            v[k] = error[k] * H[i, k]
        _pair_up(v, slopes)
        out[i, 0] = -v[0] / size
        for k in range(size):
            v[k] = error[k] * D[i, k]
        _pair_up(v, slopes)
        for j in range(count):
            out[i, 1 + j] = -a[i] * slopes[j]
        for k in range(size):
            v[k] = error[k] * K[i, k]
        _pair_up(v, slopes)
        out[i, 1 + count] = -a[i] * v[0] / size


def check_activation(activation: Activation) -> None:
    """Raise BadInput at an activation whose expectations over G are not known to be exact."""
    activation = activations.required(activation)
    if activation.relu_shift() is None and activation.kink_points():
        raise BadInput(
            f"activation = {activation.kind!r}: it has kinks; must be relu, shifted, or smooth, "
            "for the expectations over G to be exact"
        )


class Rates:
    """The right-hand side for one activation and target.

    activation: relu, shifted or not, or a smooth one.
    target: (2^P,) values at the `leap.points`.
    nodes: of the rule in G, for a smooth activation.
    """

    def __init__(self, activation: Activation, target: ArrayLike, nodes: int = NODES) -> None:
        self.target = checked_table(target, MOST_COORDINATES, "target")
        self.z = points(self.target.size.bit_length() - 1)
        check_activation(activation)
        self.activation = activation
        self.shift = activation.relu_shift()
        if self.shift is None:
            nodes = checks.whole(nodes, "nodes", least=16, most=1024)
            G = np.linspace(-REACH_DEVIATIONS, REACH_DEVIATIONS, nodes)
            p = np.exp(-0.5 * G * G)
            self.rule = G, p / p.sum()

    def means(self, u: Floats, s: Floats) -> tuple[Floats, Floats, Floats]:
        """E_Gσ, E_Gσ', E_Gσ'G : (m, 2^P) each, for every particle and point"""
        H, D, K = np.empty((3, len(u), len(self.z)))
        if self.shift is not None:
            _relu_means(u, s, self.z, self.shift, H, D, K)
        else:
            phi, dphi, _, _ = self.activation.compiled()
            _smooth_means(phi, dphi, self.activation.numbers(), self.rule, u, s, self.z, (H, D, K))
        return H, D, K

    def velocity(self, particles: Particles) -> tuple[Particles, Floats]:
        """(ȧ, u̇, ṡ), and f : (2^P,)"""
        H, D, K = self.means(particles.u, particles.s)
        out, f = np.empty((len(particles.a), self.z.shape[1] + 2)), np.empty(len(self.z))
        _velocity(particles.a, H, D, K, f, self.target, out)
        return unpacked(out.reshape(-1), self.z.shape[1]), f

    def risk(self, f: Floats) -> float:
        """½E(f − f*)²"""
        return 0.5 * float(np.mean((f - self.target) ** 2))


def packed(particles: Particles) -> Floats:
    """(m (P + 2),): rows (a, u, s), one particle after the other."""
    return np.column_stack([particles.a, particles.u, particles.s]).reshape(-1)


def unpacked(state: Floats, count: int) -> Particles:
    """The particles that `packed` gave this state of; count: P."""
    rows = state.reshape(-1, count + 2)
    return Particles(*(np.ascontiguousarray(part) for part in (rows[:, 0], rows[:, 1:-1], rows[:, -1])))


def spread(m: int, size: float = 1.0) -> Floats:
    """a : (m,), equally spaced in [−size, size], the midpoints of m intervals: the uniform law without its noise."""
    m, size = checks.whole(m, "m", least=1), checks.number(size, "size")
    checks.memory(3 * m, f"m = {m}")
    return size * ((2.0 * np.arange(m) + 1.0) / m - 1.0)


def begin(a: ArrayLike, count: int, s: float = 1.0) -> Particles:
    """Particles of these a with u = 0 and the norm s of the other weights."""
    start = np.array(checks.array(a, "a", ndim=1, empty=False))
    count = checks.whole(count, "count", least=0, most=MOST_COORDINATES)
    return Particles(start, np.zeros((start.size, count)), np.full(start.size, checks.number(s, "s")))


def solve(
    rates: Rates,
    start: Particles,
    times: ArrayLike,
    step: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    most: int = 200_000,
) -> Course:
    """The flow from `start` at time 0.

    times: (T,) 0 or more, never decreasing.
    step: None: DOP853; a number: the method of order 4, in equal steps of at most that length from time to time.
    rtol, atol: relative and absolute error per step of DOP853.
    most: evaluations of the velocity at most.
    """
    checks.instance(rates, "rates", Rates, "the Rates of an activation and a target")
    checks.instance(start, "start", Particles, "Particles, such as begin(a, count)")
    at, count = np.array(checks.array(times, "times", ndim=1, empty=False)), rates.z.shape[1]
    if at[0] < 0.0 or np.any(np.diff(at) < 0.0):
        raise BadInput(f"times: from {at[0]:g} to {at[-1]:g}; must be 0 or greater and never decrease")
    m = checks.array(start.a, "a", ndim=1, empty=False).size
    for name, part, shape in (("u", start.u, (m, count)), ("s", start.s, (m,))):
        checks.array(part, name, shape=shape, must=f"{shape}, of m particles in P coordinates")
    start = Particles(*(np.asarray(part, dtype=np.float64) for part in (start.a, start.u, start.s)))
    most = checks.whole(most, "most", least=1)
    step = None if step is None else checks.number(step, "step", above=0)
    if step is not None and float(at[-1]) / step > most:
        raise BadInput(
            f"step = {step:g}: more than {most} steps to the time {at[-1]:g}; must be longer, or `most` larger"
        )
    rtol, atol = checks.number(rtol, "rtol", least=1e-13, below=1), checks.number(atol, "atol", above=0)
    evaluations = itertools.count(1)

    def rate(t: float, state: Floats) -> Floats:
        if next(evaluations) > most:
            how = "shorten it, or give a step: the flow of a ReLU is not smooth" if step is None else "end before"
            raise BadInput(f"times: the flow takes more than {most} evaluations to {at[-1]:.6g}; {how}")
        return packed(rates.velocity(unpacked(state, count))[0])

    instants, which = np.unique(at, return_inverse=True)
    states = (
        by_steps(rate, packed(start), instants, step) if step else adaptive(rate, packed(start), instants, rtol, atol)
    )
    if not np.all(np.isfinite(states)):
        raise BadInput(
            f"a: the flow has no solution up to {instants[-1]:.6g}" + ("; make the step shorter" if step else "")
        )
    f = np.array([rates.velocity(unpacked(state, count))[1] for state in states])[which]
    return Course(at, np.array([rates.risk(row) for row in f]), f, unpacked(states[-1], count))
