"""Cumulative moments of the radius under φ² and of a radial target, of which ReLUs of the radius are made. MATH §8.

    M_k(r) = ∫₀^r t^k p(t) dt  (k = 0, 1, 2),    T_k(r) = ∫₀^r g(t) t^k p(t) dt  (k = 0, 1),    Q(r) = ∫₀^r g² p dt,

p the density of r = ‖x‖, g the target's profile. With s = c r, c = 2πR_d/scale, ν = d/2: p(r) dr = d J_ν(s)²/s ds.

*Near*, up to s = S: s is cut into panels of `PANEL_RADIANS`, and where g breaks. On a panel J_ν² is band-limited: a
polynomial through its `NODES` Gauss points integrates and evaluates it to 1e-15; a target must be as smooth between its
breaks.

*Far*, where g is constant: J_ν² = (N/πs)(1 + cos 2θ), θ' = 1/N, with the series N in 1/s² of `bessel`; and by parts

    ∫ J² s^{k−1} ds = (1/π) ∫ N s^{k−2} ds + (u − L²u + …) sin 2θ + (Lu − L³u + …) cos 2θ, u = s^{k−2}N²/2π, Lu = u'N/2.

S is at least `FAR_ORDERS` ν and 200: the series then stops below 1e-15 of its first term, and no radius is too large.
Errors measured: 6e-14 of the largest value for d ≤ 100, 3e-13 of M_0 at d = 1000. M_1 grows like log r, M_2 like r:
‖x‖ has no mean.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.sphere import bessel
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial

Floats = NDArray[np.float64]
PANEL_RADIANS = math.pi / 8  # length of a panel in s, the argument of the Bessel function
NODES = 10  # Gauss points per panel
FAR_ORDERS = 15.0  # S over ν: from there on the series in 1/s is used
ROUGH_SHARE = 1e-7  # last Legendre coefficients of a profile on a panel, of its largest value: what is above is refused
TERMS = 16  # of series in 1/s
MOST_RADIANS = 1e5  # largest S: 130 MB of panels
PARTS = 6  # integrations by parts
NO_PHASE_RADIANS = 1e8
"""From this s on an angle keeps too few digits for its sine: the waves, 1e-8 of what they wave about, are left out."""


class Moments:
    """The six cumulative moments for one law and target.

    at(r): the moments at radii r.
    total_square: E g².
    """

    def __init__(self, law: BallLaw, target: Radial) -> None:
        self.dim, self.c = law.dim, law.wave
        self.nu, self.outside = law.order, target.outside
        breaks = self.c * np.array(target.breaks)
        self.S = max(200.0, FAR_ORDERS * self.nu, float(breaks[-1]))
        if self.S > MOST_RADIANS:
            most = MOST_RADIANS / self.c
            raise BadInput(f"target: its last break is at r = {target.breaks[-1]:g}; must be at most {most:g} here")
        self.edges = np.union1d(np.linspace(0.0, self.S, math.ceil(self.S / PANEL_RADIANS) + 1), breaks)
        self.edges = self.edges[np.append(np.diff(self.edges) > 1e-12 * self.S, True)]
        self.edges[-1] = self.S
        x, _ = legendre.leggauss(NODES)
        half = np.diff(self.edges)[:, np.newaxis] / 2
        s = self.edges[:-1, np.newaxis] + half * (1.0 + x)
        r = s / self.c
        g = target.values(r.ravel()).reshape(r.shape)
        high = np.abs(g @ np.linalg.inv(legendre.legvander(x, NODES - 1)).T[:, -2:]).max(initial=0.0)
        if not high <= ROUGH_SHARE * np.abs(g).max():
            raise BadInput(
                "target: its profile is not smooth between its breaks, or changes too fast; list more breaks"
            )
        p = half * self.dim * bessel.first_kind(self.nu, s) ** 2 / s
        values = np.stack([p, p * r, p * r * r, p * g, p * g * r, p * g * g])
        pieces = values @ _antiderivative(x).T
        ends = np.cumsum(pieces.sum(axis=-1), axis=-1)  # each piece at x = 1
        pieces[:, 1:, 0] += ends[:, :-1]
        self.pieces = np.ascontiguousarray(pieces.transpose(1, 0, 2))  # panel, moment, power of x
        self.at_S = ends[:, -1]
        self.series = _Tail(self.nu)
        self.tail_at_S = self.series(np.array([self.S]))
        self.total_square = float(self.at_S[5] + self.outside**2 * max(0.0, 1.0 - self.at_S[0]))

    def at(self, r: Floats) -> Floats:
        """(6, n): M_0, M_1, M_2, T_0, T_1, Q at radii (n,)."""
        s = self.c * r
        i = np.minimum(np.searchsorted(self.edges, s, side="right") - 1, self.edges.size - 2)
        left, right = self.edges[i], self.edges[i + 1]
        x = (2.0 * np.minimum(s, right) - left - right) / (right - left)
        found: Floats = np.matmul(self.pieces[i], _powers_of(x, NODES + 1).T[:, :, np.newaxis])[:, :, 0].T
        if s.size and s.max() > self.S:
            far = s > self.S
            found[:, far] = self._far(s[far])
        return found

    def _far(self, s: Floats) -> Floats:
        M = self.dim * (self.series(s) - self.tail_at_S) / self.c ** np.arange(3)[:, np.newaxis]
        g = self.outside
        return np.asarray(self.at_S[:, np.newaxis] + np.concatenate([M, g * M[:2], g * g * M[:1]]))


def _powers_of(x: Floats, count: int) -> Floats:
    """1, x, x² … : (count, n)"""
    powers = np.empty((count, x.size))
    powers[0] = 1.0
    powers[1:] = x
    return np.asarray(np.multiply.accumulate(powers, axis=0))


def _antiderivative(x: Floats) -> Floats:
    """(n + 1, n): values at the Gauss nodes x → powers of the integral from −1 of the polynomial through them."""
    n = x.size
    columns = np.linalg.inv(legendre.legvander(x, n - 1))
    return np.stack([_powers(legendre.legint(c, lbnd=-1), n + 1) for c in columns.T], axis=1)


def _powers(c: Floats, size: int) -> Floats:
    found = legendre.leg2poly(c)
    return np.pad(found, (0, size - found.size))


class _Tail:
    """s (n,) → ∫^s J_ν² s^{k−1} ds for k = 0, 1, 2, up to a constant : (3, n). Functions of s are series in 1/s."""

    def __init__(self, nu: float) -> None:
        known, orders = bessel.tail(nu), nu ** np.arange(0.0, TERMS, 2.0)
        N, phase = np.zeros(TERMS), np.zeros(TERMS)
        N[::2] = known.w[: TERMS // 2] * orders
        # θ − s + (ν/2 + ¼)π over 1/s: the integral of 1/N − 1
        phase[:-2:2] = -(known.v[: TERMS // 2] * orders / (2.0 * np.arange(TERMS // 2) - 1.0))[1:]
        self.shift = (nu / 2 + 0.25) * math.pi
        i = np.arange(TERMS)
        smooth = [np.divide(N, math.pi * (k - 1 - i), out=np.zeros(TERMS), where=i != k - 1) for k in range(3)]
        waves = [_by_parts(N, k) for k in range(3)]
        self.series = np.array([phase, *smooth, *(sines for sines, _ in waves), *(cosines for _, cosines in waves)])

    def __call__(self, s: Floats) -> Floats:
        x = 1.0 / s
        found = self.series @ _powers_of(x, TERMS)
        twice = 2.0 * (np.minimum(s, NO_PHASE_RADIANS) - self.shift + x * found[0])
        waves = np.where(s < NO_PHASE_RADIANS, found[4:7] * np.sin(twice) + found[7:] * np.cos(twice), 0.0)
        waves *= x
        waves += found[1:4]
        integral = np.stack([x * waves[0], waves[1], s * waves[2]])
        integral[1] += np.log(s) / math.pi
        return integral


def _by_parts(N: Floats, k: int) -> tuple[Floats, Floats]:
    """The factors of sin 2θ and cos 2θ, as coefficients of s^{k−2−i}."""
    u = np.convolve(N, N)[:TERMS] / (2.0 * math.pi)
    factors = (np.zeros(TERMS), np.zeros(TERMS))
    for n in range(PARTS):
        factors[n % 2][:] += u if n % 4 < 2 else -u
        slope = np.append(0.0, (u * (k - 2 - np.arange(TERMS)))[:-1])
        u = np.convolve(slope, N)[:TERMS] / 2.0
    return factors
