"""A lower bound on the error of every two-layer net of a width, whatever its activations and weights. MATH §8.

f = Σ_{k≤m} f_k(⟨v_k,x⟩) keeps (fφ)^ inside m tubes, of which the sphere of radius u R_d holds a share of at most
min(1, m I(u)); what a radial g has outside cannot be had back. With e(u) the energy of (g−c)φ by ratio (`hankel`), P
the `reach` of the computation and u* the ratio where m I = 1 (`kink`),

    E(f−g)² ≥ ∫ e (1 − min(1, mI)) du ≥ E(g−c)² − ∫₀^P e min(1, mI) du − mI(P) (E(g−c)² − ∫₀^P e du):

the direct integrand falls like u^{−2} only; beyond P the share is at most I(P), and the energy is known by Parseval.
The last term (`slack`) is all that is given away: P doubles until it is a millionth of the bound, or more where that
takes long (at d = 2, where I falls like 1/u).

Never optimistic: errors of E(g−c)², of the amplitudes (panels of two lengths, the last Legendre coefficients,
rounding) and of the shares are bounded, multiplied by a safety factor and taken off (`error`); a bound is never below
0. Errors δA of the amplitudes act through |∫e − ∫ẽ| ≤ 2 √(∫e ∫d u δA²) + ∫d u δA².

The inverse, `least_width`: the m at which the certificate comes to ε. (Where P doubles with m the bound steps up by a
part of the slack, so that a somewhat narrower net may already be allowed; never the other way round.) As gφ is not
supported in any union of tubes (g − c has a bounded support, so its transform is entire), no finite width has ε = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.optimize import brentq

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial
from simlab.theory.hankel import TO_SERIES, U_NODES, U_WEIGHTS, Segment, Transform
from simlab.theory.tubes import log_share

Floats = NDArray[np.float64]
SAFETY_FACTOR = 4.0
"""Estimated errors are multiplied by it."""
SHARE_ERROR = 1e-11  # of I, relative: 2e-12 measured against Arb at d = 10 000
SLACK_SHARE, CHEAP_RADIANS, MOST_RADIANS = 1e-6, 300.0, 16_000.0
"""P doubles while the slack is above 1e-6 of the bound, times (SP/300)² where SP is more; the last phase SP takes 4·10⁸
Bessel functions, seconds, and is met only where d is 2 and the width beyond some hundred."""
EXACT = 1 << 53
"""Whole numbers below it are floats."""


@dataclass(frozen=True)
class Certificate:
    """A lower bound on E(f−g)² of every two-layer net of one width.

    bound: the certified number.
    error: what was taken off it for errors of the computation.
    slack: what was taken off it for the unknown energy beyond the ratio `reach`.
    energy: E(g−c)².
    kink: the ratio where m I = 1.
    reach: the largest ratio computed.
    """

    bound: float
    error: float
    slack: float
    energy: float
    kink: float
    reach: float


@dataclass(frozen=True)
class LeastWidth:
    """The least width not excluded.

    width: a whole number below 2^53, else rounded, inf beyond floats.
    log10: its logarithm, also where the width is no float.
    """

    width: int | float
    log10: float


@dataclass(frozen=True)
class _Known:
    """All k panels up to the reach, one after another.

    edges: (k+1,) ends of the panels, as ratios.
    ratio: (k, 32) nodes u.
    amplitude: (k, 32) A(u).
    weighted: (k, 32) e(u) times the weights of the quadrature.
    log_share: (k, 32) log I(u).
    edge_log_share: (k+1,) log I at the edges.
    below: (k+1,) energy up to every edge.
    error: bound on the error of all of it.
    """

    edges: Floats
    ratio: Floats
    amplitude: Floats
    weighted: Floats
    log_share: Floats
    edge_log_share: Floats
    below: Floats
    error: float


class Spectrum:
    """The energy of a target by ratio, computed once and as far as the widths asked for need."""

    def __init__(self, target: Radial, law: BallLaw) -> None:
        self.transform = Transform(target, law)
        self.dim = self.transform.dim
        self._segments: list[Segment] = []
        self._known: list[_Known] = []

    @property
    def energy(self) -> float:
        """E(g − c)², c the constant beyond the last break."""
        return self.transform.energy[0]

    def beyond(self, ratio: float) -> float:
        """∫_u^∞ e du: the energy beyond the radius ratio·R_d."""
        ratio = checks.number(ratio, "ratio", least=0, most=MOST_RADIANS / self.transform.last)
        known = self._up_to(max(1, math.ceil(math.log2(max(ratio, 1.0)))))
        k = min(int(np.searchsorted(known.edges, ratio, side="right")) - 1, len(known.ratio) - 1)
        below = float(known.below[k]) + self._part(known, k, float(known.edges[k]), ratio)
        return max(0.0, self.energy - below)

    def certificate(self, width: int) -> Certificate:
        """The bound for nets of `width` neurons."""
        return self.at_log(math.log(checks.whole(width, "width", least=1)))

    def at_log(self, log_width: float) -> Certificate:
        """The bound for a width given by its natural logarithm, beyond the range of floats too."""
        log_width = checks.number(log_width, "log_width", least=0)
        index = 1
        while True:
            known, phase = self._up_to(index), 2.0**index * self.transform.last
            found = self._bound(known, log_width)
            allowed = SLACK_SHARE * max(1.0, phase / CHEAP_RADIANS) ** 2 * found.bound
            enough = found.slack <= allowed or found.energy == 0.0
            # Where nothing is left but error, a longer reach finds nothing more.
            nothing = found.energy - known.below[-1] <= found.error
            if enough or nothing or 2 * phase > MOST_RADIANS:
                return found
            index += 1

    def _up_to(self, index: int) -> _Known:
        """What is known up to the ratio 2^index: the same numbers, whatever was asked before."""
        while len(self._known) <= index:
            k = len(self._known)
            self._segments.append(self.transform.segment(0.0 if k == 0 else 2.0 ** (k - 1), 2.0**k))
            self._known.append(self._joined())
        return self._known[index]

    def _joined(self) -> _Known:
        parts = self._segments
        edges = np.concatenate([parts[0].edges, *(part.edges[1:] for part in parts[1:])])
        u = np.concatenate([part.ratio for part in parts])
        A = np.concatenate([part.amplitude for part in parts])
        weights = np.concatenate([part.weights for part in parts])
        weighted = weights * self.dim * u * A * A
        below = np.append(0.0, np.cumsum(weighted.sum(axis=1)))
        wrong = math.fsum(part.wrong for part in parts)
        energy, of_energy = self.transform.energy
        of_panels = 2 * math.sqrt(energy * wrong) + wrong
        error = SAFETY_FACTOR * (2 * (of_energy + of_panels) + SHARE_ERROR * energy)
        return _Known(edges, u, A, weighted, log_share(self.dim, u), log_share(self.dim, edges), below, error)

    def _bound(self, known: _Known, log_width: float) -> Certificate:
        energy, reach = self.energy, float(known.edges[-1])
        tail = log_width + known.edge_log_share  # decreasing; 0 at the kink
        if tail[-1] >= 0:
            return Certificate(0.0, known.error, max(0.0, energy - float(known.below[-1])), energy, math.inf, reach)
        k = max(0, int(np.searchsorted(-tail, 0.0, side="right")) - 1)  # of the panel in which the kink lies
        a, b = known.edges[k], known.edges[k + 1]
        kink = float(brentq(lambda u: log_width + float(log_share(self.dim, u)), a, b)) if tail[k] > 0 else float(a)
        spent = float(known.below[k]) + self._part(known, k, a, kink) + self._part(known, k, kink, b, log_width)
        beyond = slice(k + 1, None)
        with np.errstate(under="ignore"):
            spent += float(np.sum(known.weighted[beyond] * np.exp(log_width + known.log_share[beyond])))
            slack = math.exp(tail[-1]) * max(0.0, energy - float(known.below[-1]))
        bound = energy - spent - slack - known.error
        return Certificate(max(0.0, bound), known.error, slack, energy, kink, reach)

    def _part(self, known: _Known, k: int, a: float, b: float, log_width: float | None = None) -> float:
        """∫ e du, or ∫ e m I du for a width, over a part of panel k, by the Legendre series of A there."""
        if not b > a:
            return 0.0
        first, last = known.edges[k], known.edges[k + 1]
        u = a + (b - a) / 2 * (1 + U_NODES)
        A = legendre.legval((2 * u - first - last) / (last - first), TO_SERIES @ known.amplitude[k])
        share = 1.0 if log_width is None else np.exp(np.minimum(0.0, log_width + log_share(self.dim, u)))
        return float((b - a) / 2 * np.sum(U_WEIGHTS * self.dim * u * A * A * share))

    def least_width(self, eps: float) -> LeastWidth:
        """The least width whose certificate is at most eps; infinite for eps = 0, unless g is constant."""
        if not (isinstance(eps, int | float | np.floating) and 0 <= eps < math.inf):
            raise BadInput(f"eps = {eps!r}: must be a finite number, 0 or more")
        if self.energy <= eps or self.at_log(0.0).bound <= eps:
            return LeastWidth(1, 0.0)
        if eps == 0:
            return LeastWidth(math.inf, math.inf)
        low, high = 0.0, self._enough(eps)
        while high >= math.log(EXACT) and high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.at_log(middle).bound > eps else (low, middle)
        if high >= math.log(EXACT):
            return LeastWidth(math.exp(high) if high < 709.0 else math.inf, high / math.log(10))
        excluded, allowed = math.floor(math.exp(low)), math.ceil(math.exp(high)) + 1
        while allowed - excluded > 1:
            middle_width = (excluded + allowed) // 2
            out = self.certificate(middle_width).bound > eps
            excluded, allowed = (middle_width, allowed) if out else (excluded, middle_width)
        return LeastWidth(allowed, math.log10(allowed))

    def _enough(self, eps: float) -> float:
        """The logarithm of a width beyond whose kink no more than eps is left, as far as is computed."""
        index = 1
        while True:
            known = self._up_to(index)
            if self.energy - known.below[-1] <= eps or 2.0 ** (index + 1) * self.transform.last > MOST_RADIANS:
                enough = np.append(self.energy - known.below[:-1] <= eps, True)
                return -float(known.edge_log_share[int(np.argmax(enough))])
            index += 1


def certificate(target: Radial, law: BallLaw, width: int) -> Certificate:
    """The lower bound on E(f−g)² of every two-layer net of this width; for many widths keep a `Spectrum`."""
    return Spectrum(target, law).certificate(width)


def least_width(target: Radial, law: BallLaw, eps: float) -> LeastWidth:
    """The least width of a two-layer net that the certificate allows an error E(f−g)² of eps."""
    return Spectrum(target, law).least_width(eps)
