"""The Fourier transform of g φ for a radial g, as amplitudes and energies at ratios u = ρ/R_d. MATH §8.

With s = 2πR_d‖x‖ (of the law before it is rescaled), ν = d/2 and c the constant of g beyond its last break,

    (gφ)^(ρ) = 2πρ^{1−ν} ∫ g(r) φ(r) r^ν J_{ν−1}(2πρr) dr = u^{1−ν} A(u),   A(u) = ∫ (g − c) J_ν(s) J_{ν−1}(us) ds
    |(gφ)^|² vol(ρS^{d−1}) dρ = e(u) du,                    e(u) = d u A(u)²,   ∫₀^∞ e du = E(g − c)²  (Parseval)

for vol(R_d B) = 1: no power of d is left that could overflow. The transform of cφ is c on the ball u ≤ 1, inside every
tube, and is left out. u^{1−ν}A is entire (g − c has a bounded support, s ≤ S) and oscillates no faster than e^{iSu}.

Panels of Gauss–Legendre nodes: in s split at the breaks, of phase (1+u)h ≤ 16 for 16 nodes (error J₃₂(8) ~ 1e-16); in u
of phase Sh ≤ 18 for 32 nodes, which also gives A between them by its Legendre series, and shrinking towards u = 1,
where the share of a tube has a root. J_{ν−1} comes from Taylor polynomials of degree 11 about a grid of step 1/2, by
Bessel's equation; below 4 from its power series. Symbols: u `ratio`, A `amplitude`, e `density`, S `last`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray
from scipy.special import jv

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.jit import jit
from simlab.core.quadrature import GROWTH, NODES, WEIGHTS
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial

Floats = NDArray[np.float64]

S_PHASE, U_PHASE = 16.0, 18.0
U_NODES, U_WEIGHTS = legendre.leggauss(32)
TO_SERIES = np.linalg.inv(legendre.legvander(U_NODES, U_NODES.size - 1))
"""Matrix: values at the nodes → coefficients of the Legendre series."""
GRID, TERMS, SMALL, SMALL_TERMS = 2, 12, 4.0, 18
BESSEL_ERROR = 1e-11
"""scipy's jv was found right to 5e-12 s^{−1/2} up to order 500 (against Arb); one for each of two."""
FINEST, SMOOTH = 64, 1e-10
"""A profile is resolved when panels of two lengths agree on E(g − c) and E(g − c)² to 1e-10, these being at most 64
times as short as Bessel functions ask."""
MOST_LAST, MOST_BREAKS = 8000.0, 4000
"""S and the number of breaks: beyond them the first ratios alone take 10⁹ Bessel functions."""
MOST_PHASE = 1e5  # of u S: 10⁵ nodes, each of as many Bessel functions as ratios are asked for
NEAREST = 1e-9  # the panel that touches u = 1: of a root's integral it leaves 1e-14


@jit(fastmath={"contract"})
def _amplitudes(ratio: Floats, s: Floats, h: Floats, order: float, table: Floats) -> Floats:
    """Σ_j h_j J_order(u_i s_j) : (n,)"""
    front = -math.lgamma(order + 1.0) - order * math.log(2.0)  # a logarithm: z^order overflows from d = 1027 on
    found = np.empty(ratio.size)
    for i in range(ratio.size):
        total = 0.0
        for j in range(s.size):
            z = ratio[i] * s[j]
            if z >= SMALL:
                k = int(GRID * z)
                t = z - (k + 0.5) / GRID
                # In fours: half as long as Horner's chain of twelve.
                c, t2 = table[k], t * t
                low = (c[0] + c[1] * t) + (c[2] + c[3] * t) * t2
                middle = (c[4] + c[5] * t) + (c[6] + c[7] * t) * t2
                high = (c[8] + c[9] * t) + (c[10] + c[11] * t) * t2
                value = low + t2 * t2 * (middle + t2 * t2 * high)
            else:
                q, term, value = -0.25 * z * z, 1.0, 1.0
                for n in range(1, SMALL_TERMS):
                    term *= q / (n * (order + n))
                    value += term
                value *= math.exp(front + order * math.log(z))
            total += h[j] * value
        found[i] = total
    return found


def _taylor(order: float, top: float) -> Floats:
    """Row k: the Taylor coefficients of J_order about (k + ½)/GRID, from Bessel's equation."""
    z = (np.arange(int(GRID * top) + 2) + 0.5) / GRID
    c = np.zeros((TERMS, z.size))
    c[0], c[1] = jv(order, z), 0.5 * (jv(order - 1, z) - jv(order + 1, z))
    for k in range(TERMS - 2):
        rest = z * (k + 1) * (2 * k + 1) * c[k + 1] + (k * k + z * z - order * order) * c[k]
        rest += 2 * z * c[k - 1] if k >= 1 else 0.0
        rest += c[k - 2] if k >= 2 else 0.0
        c[k + 2] = -rest / (z * z * (k + 1) * (k + 2))
    return np.ascontiguousarray(c.T)


@dataclass(frozen=True)
class Segment:
    """A stretch of ratios, in k panels.

    edges: (k+1,) ends of the panels.
    ratio: (k, 32) nodes u.
    weights: (k, 32) of the quadrature in u.
    amplitude: (k, 32) A(u).
    wrong: bound on ∫ d u δA² du for the error δA of the amplitudes.
    """

    edges: Floats
    ratio: Floats
    weights: Floats
    amplitude: Floats
    wrong: float


def check_breaks(breaks: Sequence[float], law: BallLaw) -> None:
    """Raise BadInput where a radial target with these breaks, increasing radii, cannot be transformed."""
    if len(breaks) > MOST_BREAKS:
        raise BadInput(f"target: breaks {len(breaks)} times; at most {MOST_BREAKS} can be transformed")
    if breaks and not law.wave * breaks[-1] <= MOST_LAST:
        most = MOST_LAST / law.wave
        raise BadInput(f"target: changes out to the radius {breaks[-1]:g}; at most {most:g} can be transformed")


class Transform:
    """g φ for one target and law, in Fourier space."""

    def __init__(self, target: Radial, law: BallLaw) -> None:
        checks.instance(target, "target", Radial, "radial, a function of ‖x‖ alone")
        checks.instance(law, "law", BallLaw, "the law of ‖x‖, such as data.BallFourier(dim=3).radius_law()")
        self.law, self.dim, self.order, self.factor = law, law.dim, law.order, law.wave
        self.target = target
        check_breaks(target.breaks, law)
        self.breaks = self.factor * np.array([0.0, *target.breaks])
        self.last = float(self.breaks[-1])
        self.finer = 1.0
        self._resolve()

    def _nodes(self, ratio: float, finer: float = 1.0) -> tuple[Floats, Floats, Floats]:
        """s, the weights, and (g − c) there, on panels for J_ν(s) J_{ν−1}(us), u ≤ ratio."""
        longest = S_PHASE / (1.0 + ratio)
        pieces = []
        for a, b in zip(self.breaks, self.breaks[1:], strict=False):
            # At least two, times `finer` also where these are short: else two lengths would be one.
            count = math.ceil(finer * self.finer * max(2.0, (b - a) / longest))
            pieces.append(np.linspace(a, b, count + 1)[:-1])
        edges = np.append(np.concatenate(pieces), self.last)
        half = np.diff(edges)[:, None] / 2
        s = (edges[:-1, None] + half * (1 + NODES)).ravel()
        g = self.target.values(s / self.factor) - self.target.outside
        if not np.all(np.isfinite(g)):
            raise BadInput(f"target: not finite at the radius {s[~np.isfinite(g)][0] / self.factor:g}")
        return s, (half * WEIGHTS).ravel(), g

    @cached_property
    def energy(self) -> tuple[float, float]:
        """E(g − c)², the density of s being d J_ν²/s, and a bound of its error."""
        found = self._moments(2.0)[1]
        return found, abs(found - self._moments(1.0)[1]) + BESSEL_ERROR * found

    def _moments(self, finer: float) -> tuple[float, float]:
        """E(g − c), which tells the sign that the square does not, and E(g − c)²."""
        s, weights, g = self._nodes(1.0, finer)
        density = self.dim * weights * jv(self.order, s) ** 2 / s
        with np.errstate(over="ignore"):
            found = math.fsum(density * g), math.fsum(density * g * g)
        if not math.isfinite(found[1]):
            raise BadInput("target: E g² is not finite in float64; scale it down")
        return found

    def _resolve(self) -> None:
        """Shorter panels than the Bessel functions need, where the profile needs them. A spike that lies between all
        nodes cannot be seen: breaks belong where a profile changes at once."""
        while self.finer <= FINEST:
            (mean, square), others = self._moments(1.5), self._moments(1.0)
            if abs(square - others[1]) <= SMOOTH * square and abs(mean - others[0]) <= SMOOTH * math.sqrt(square):
                return
            self.finer *= 2.0
        raise BadInput("target: its profile is not smooth between its breaks, or changes too fast; list more breaks")

    def amplitude(self, ratio: ArrayLike, finer: float = 1.0) -> Floats:
        """A(u)."""
        u = checks.bounded(ratio, "ratio", least=0, most=MOST_PHASE / self.last)
        finer = checks.number(finer, "finer", least=1, most=FINEST)
        flat, found = u.ravel(), np.empty(u.size)
        octave = np.ceil(np.log2(np.maximum(flat, 1.0))).astype(np.int64)
        for k in np.unique(octave):
            some = octave == k
            found[some] = self._amplitude(flat[some], float(2.0**k), finer)
        return found.reshape(u.shape)

    def _amplitude(self, ratio: Floats, top: float, finer: float = 1.0) -> Floats:
        s, weights, g = self._nodes(top, finer)
        h = weights * g * jv(self.order, s)
        alive = h != 0.0
        return _amplitudes(ratio, s[alive], h[alive], self.order - 1, _taylor(self.order - 1, top * self.last))

    def density(self, ratio: ArrayLike) -> Floats:
        """e(u), the energy by ratio."""
        u = checks.bounded(ratio, "ratio", least=0, most=MOST_PHASE / self.last)
        return np.asarray(self.dim * u * self.amplitude(u) ** 2)

    def at(self, rho: ArrayLike) -> Floats:
        """(gφ)^ itself but for the constant's part; overflows in high dimension, where `density` does not."""
        u = (
            checks.bounded(rho, "rho", above=0, most=MOST_PHASE / self.last * self.law.ball_radius)
            / self.law.ball_radius
        )
        with np.errstate(over="ignore"):
            return np.asarray(u ** (1 - self.order) * self.amplitude(u))

    def segment(self, first: float, last: float) -> Segment:
        """Panels from one ratio to another, none across u = 1."""
        first, last = checks.number(first, "first", least=0), checks.number(last, "last", above=0)
        if first >= last or last > MOST_PHASE / self.last:
            raise BadInput(f"last = {last:g}: must be greater than first and at most {MOST_PHASE / self.last:g}")
        edges = self._edges(first, last)
        half = np.diff(edges)[:, None] / 2
        u = edges[:-1, None] + half * (1 + U_NODES)
        A = self._amplitude(u.ravel(), last).reshape(u.shape)
        s, weights, g = self._nodes(last)
        size = math.fsum(weights * np.abs(g * jv(self.order, s)) / np.sqrt(s))
        rounding = BESSEL_ERROR * size / math.sqrt(max(first, 1.0))
        check = u.ravel()[:: U_NODES.size // 2 + 1]
        panels = np.abs(A.ravel()[:: U_NODES.size // 2 + 1] - self._amplitude(check, last, 1.5)).max()
        # Of odd d, A has the root of u at 0; the density has none, nor has √u A.
        smooth = A * np.sqrt(u) if first == 0.0 and self.dim % 2 else A
        series = np.abs(smooth @ TO_SERIES.T)[:, -2:].max()
        wrong = self.dim / 2 * (last**2 - first**2) * (rounding + panels + series) ** 2
        return Segment(edges, u, half * U_WEIGHTS, A, wrong)

    def _edges(self, first: float, last: float) -> Floats:
        edges = [first]
        while (u := edges[-1]) < last:
            # Of a share that falls like u^{−d}, and of A, both within a panel's reach.
            h = min(U_PHASE / self.last, U_PHASE * max(u, 1.0) / self.dim)
            if u >= 1.0:
                h = min(h, max(GROWTH * (u - 1.0), NEAREST / self.dim))
            edges.append(last if u + 1.01 * h >= last else u + h)
        return np.array(edges)
