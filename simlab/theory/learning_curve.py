"""The average error of kernel ridge regression on n samples, from the spectrum alone. MATH §5.

Bordelon, Canatar & Pehlevan (2020). Degree k has N_k eigenvalues η_k, w_k = N_k η_k, the target power p_k in it:

    κ = λ + T + κ Σ_k w_k/(nη_k + κ)                     T = κ(1) − Σ_{k≤K} w_k, the tail
    1 − γ = (λ + T)/κ + κ Σ_k w_k/(nη_k + κ)²            γ = n Σ_k w_k η_k/(nη_k + κ)²
    E_k = p_k κ²/((1−γ)(nη_k + κ)²)                       noise of variance σ² adds σ² γ/(1−γ)

λ is not scaled by n. The form of 1 − γ follows from the first line and does not cancel. Degrees beyond K act as ridge
and what the target has there stays unlearned, as what it has where η_k = 0: E = p/(1−γ). All of it is excess error;
test error on noisy labels is σ² more.

κ is the root of the decreasing h(κ) = (λ+T)/κ + Σ w_k/(nη_k+κ) = 1, found in ln κ with every factor as its logarithm:
eigenvalues may lie below the range of float64 and multiplicities above it. Without ridge and tail κ = 0 from n = Σ N
on, the end of a kernel of finite rank; there, at n = Σ N, noise and unlearnable power have infinite error.

It is the leading order for many modes per degree. Where a target lies in a few low degrees of a low dimension the
errors measured without ridge lie above it: 20 % at d = 5 (degrees 1 and 2, n = 200), a factor of 2 at d = 3; 2 % at
d = 10.

Symbols: κ `kappa`, γ `gamma`, λ `ridge`, σ `noise`, p `power`, n `n`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput, shown

Floats = NDArray[np.float64]
LN10 = math.log(10.0)
EPS = 2.0**-52
MOST_FLOATS = 1_000_000  # of one array of work; there are a dozen, of 8 MB each
MOST_NOISE = 1e150  # its square is a float
BINS, BIN_WIDTH = 200, 0.1  # of a continued tail, the width in ln k: up to 5e8 times the last degree


class Spectral(Protocol):
    """What is asked of a spectrum; `simlab.kernels` gives it, and so does `PowerLaw` of `source_condition`."""

    @property
    def eigenvalues(self) -> Floats: ...
    @property
    def log10(self) -> Floats: ...
    @property
    def multiplicities(self) -> NDArray[Any]: ...
    @property
    def trace(self) -> float: ...


@runtime_checkable
class OfKernel(Protocol):
    """What the spectrum of a kernel tells in addition."""

    def known(self) -> NDArray[np.bool_]:
        """Degrees whose eigenvalue is larger than its error."""
        ...

    def polynomial_degree(self) -> int | None:
        """The degree beyond which all eigenvalues are 0; None where there is none."""
        ...


@dataclass(frozen=True, eq=False)
class Curve:
    """The excess error for every n and ridge asked for; all arrays have the common shape of these.

    n: samples.
    ridge: λ.
    kappa: κ, the effective ridge.
    gamma: γ, the variance of the fit per unit of noise.
    by_degree: (…, K+1) what the target's power in each degree costs.
    tail: what its power beyond degree K costs.
    noise: what the labels' noise costs.
    truncation: how much `error` changes if the tail of the spectrum is not a ridge but goes on as a power of the
        degree, with the target's tail in the first degrees of it: an estimate, not a bound. Where it is not small, n is
        too large for the degrees known, and the spectrum must be longer.
    """

    n: Floats
    ridge: Floats
    kappa: Floats
    gamma: Floats
    by_degree: Floats
    tail: Floats
    noise: Floats
    truncation: Floats

    @property
    def error(self) -> Floats:
        """Σ by_degree + tail + noise"""
        return np.asarray(self.by_degree.sum(axis=-1) + self.tail + self.noise)


def learning_curve(
    spectrum: Spectral,
    power: ArrayLike,
    n: ArrayLike,
    ridge: ArrayLike = 0.0,
    noise: float = 0.0,
    tail_power: float = 0.0,
) -> Curve:
    """The predicted excess error; n and ridge broadcast together.

    spectrum: of the kernel.
    power: the target's power by degree, from 0 on. Shorter than the spectrum: there is none beyond. Longer: the rest
        is added to `tail_power`.
    n: samples, 0 or more; no integer is needed.
    ridge: λ.
    noise: standard deviation σ of the labels' noise.
    tail_power: power of the target beyond the degrees of the spectrum.
    """
    log_eta, log_w, rest = _logs(spectrum)
    K1 = log_eta.size
    p = np.zeros(K1)
    given = checks.bounded(power, "power", ndim=1, least=0, must="one number per degree")
    p[: min(given.size, K1)] = given[:K1]
    beyond = checks.number(tail_power, "tail_power", least=0) + math.fsum(given[K1:])
    n, ridge = checks.bounded(n, "n", least=0), checks.bounded(ridge, "ridge", least=0)
    try:
        sizes, ridges = np.broadcast_arrays(n, ridge)
    except ValueError:
        raise BadInput(f"n has shape {n.shape} and ridge {ridge.shape}: must go together by broadcasting") from None
    variance = checks.number(noise, "noise", least=0, most=MOST_NOISE) ** 2

    curve = _solve(log_eta, log_w, rest, p, beyond, sizes.ravel(), ridges.ravel(), variance)
    more_eta, more_w, left = _continued(log_eta, log_w, rest)
    longer = np.concatenate((p, np.zeros(more_eta.size)))
    if more_eta.size:
        longer[K1] = beyond
    other = _solve(
        np.concatenate((log_eta, more_eta)),
        np.concatenate((log_w, more_w)),
        left,
        longer,
        0.0 if more_eta.size else beyond,
        sizes.ravel(),
        ridges.ravel(),
        variance,
    )
    with np.errstate(invalid="ignore"):
        truncation = np.nan_to_num(abs(_total(other) - _total(curve)), nan=math.inf)
    kappa, gamma, by_degree, tail, noisy = curve
    shape = sizes.shape
    return Curve(
        n=sizes.copy(),
        ridge=ridges.copy(),
        kappa=kappa.reshape(shape),
        gamma=gamma.reshape(shape),
        by_degree=by_degree.reshape(*shape, K1),
        tail=tail.reshape(shape),
        noise=noisy.reshape(shape),
        truncation=truncation.reshape(shape),
    )


def checked_spectrum(spectrum: Any) -> Spectral:
    """What has the four attributes of `Spectral`."""
    given = dir(spectrum)
    if missing := [name for name in ("eigenvalues", "log10", "multiplicities", "trace") if name not in given]:
        raise BadInput(
            f"spectrum = {shown(spectrum)}: has no {missing[0]}; must be a kernel's spectrum(dim, max_degree)"
        )
    found: Spectral = spectrum
    return found


def _logs(spectrum: Spectral) -> tuple[Floats, Floats, float]:
    """ln η_k, ln w_k (−inf for a zero, and for an eigenvalue that is not known) and the tail T."""
    checked_spectrum(spectrum)
    known = spectrum.known() if isinstance(spectrum, OfKernel) else np.ones(len(spectrum.eigenvalues), bool)
    if (negative := known & (spectrum.eigenvalues < 0)).any():
        raise BadInput(f"eigenvalue {int(negative.argmax())} is negative: the kernel is not positive definite")
    log_eta = np.where(known, LN10 * spectrum.log10, -math.inf)
    log_w = log_eta + np.array([math.log(int(count)) for count in spectrum.multiplicities])
    weights = np.exp(log_w)
    rest = spectrum.trace - math.fsum(weights)
    if rest <= 64 * EPS * spectrum.trace:
        rest = min(_geometric(spectrum, weights), 64 * EPS * spectrum.trace)
    return log_eta, log_w, rest


def _geometric(spectrum: Spectral, weights: Floats) -> float:
    """The tail where it lies below the rounding of the sum: the last four degrees continued by pairs as a geometric
    series, as one of a pair may be an exact zero; 0 for a polynomial."""
    degree = spectrum.polynomial_degree() if isinstance(spectrum, OfKernel) else None
    first, second = float(weights[-4:-2].sum()), float(weights[-2:].sum())
    if (degree is not None and degree < weights.size) or weights.size < 4 or not 0.0 < second < first:
        return 0.0
    return second * second / (first - second)


def _continued(log_eta: Floats, log_w: Floats, rest: float) -> tuple[Floats, Floats, float]:
    """ln η and ln w of the tail as a power law in bins of the degree, and what is left beyond them.

    Beyond degree k the law leaves T (k/K)^{−(τ−1)}, τ − 1 = K w_K/T, and N grows as it does at K. Means over the last
    two degrees, as one of them may be an exact zero of a parity.
    """
    K = log_eta.size - 1
    counts, live = np.exp(log_w - np.where(log_eta > -math.inf, log_eta, 0.0)), log_eta > -math.inf
    if rest == 0.0 or K < 3 or not live[-2:].any() or not live[-4:-2].any():
        return np.empty(0), np.empty(0), rest
    share = float(np.exp(log_w[-2:]).sum() / 2)
    count, before = (float(counts[part][live[part]].mean()) for part in (slice(-2, None), slice(-4, -2)))
    growth = max(math.log(count / before) / math.log((K + 1) / (K - 1)), 0.0)
    fall = K * share / rest
    edges = np.exp(BIN_WIDTH * np.arange(BINS + 1))
    above = rest * edges**-fall
    weights = -np.diff(above)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        many = count * K * np.diff(edges ** (growth + 1)) / (growth + 1)
        eta, w = np.log(weights) - np.log(many), np.log(weights)
    good = np.isfinite(eta) & np.isfinite(w)
    return eta[good], w[good], float(above[-1] + weights[~good].sum())


def _total(curve: tuple[Floats, Floats, Floats, Floats, Floats]) -> Floats:
    return np.asarray(curve[2].sum(axis=1) + curve[3] + curve[4])


def _solve(
    log_eta: Floats, log_w: Floats, rest: float, p: Floats, beyond: float, n: Floats, ridge: Floats, variance: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """κ, γ, E by degree, E of the tail and of the noise, for n and ridge of one length."""
    if n.size > 1 and n.size * log_eta.size > MOST_FLOATS:
        half = n.size // 2
        first, second = (
            _solve(log_eta, log_w, rest, p, beyond, n[part], ridge[part], variance)
            for part in (slice(half), slice(half, None))
        )
        kappa, gamma, by_degree, tail, noisy = (np.concatenate(pair) for pair in zip(first, second, strict=True))
        return kappa, gamma, by_degree, tail, noisy
    held = ridge + rest
    with np.errstate(divide="ignore"):
        log_held, log_n = np.log(held), np.log(n)
    live = log_eta > -math.inf
    log_kappa = _root(log_eta[live], log_w[live], log_held, log_n)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # q = κ/(nη+κ), the share of a mode that is not learned; 1 for a zero eigenvalue, also at κ = 0.
        ratio = log_n[:, np.newaxis] + log_eta - log_kappa[:, np.newaxis]  # ln(nη/κ)
        q = np.where(np.isnan(ratio) | ~live, 1.0, np.exp(-np.logaddexp(0.0, ratio)))
        # w/κ q² and w/κ q(1−q): the terms of 1−γ and γ. At κ = 0 the latter is N/n.
        log_share = log_w - log_kappa[:, np.newaxis]
        log_q = np.where(np.isnan(ratio), 0.0, -np.logaddexp(0.0, ratio))
        log_learned = np.where(np.isnan(ratio), -math.inf, -np.logaddexp(0.0, -ratio))
        left = np.where(live, np.exp(log_share + 2 * log_q), 0.0).sum(axis=1)
        spent = np.where(live, np.exp(log_share + log_q + log_learned), 0.0).sum(axis=1)
        one_minus = np.exp(log_held - log_kappa) + left
        flat = np.isneginf(log_kappa)
        if flat.any():
            modes = float(sum(np.exp((log_w - log_eta)[live])))
            spent[flat] = np.where(n[flat] > 0, modes / n[flat], 0.0)
            one_minus[flat] = np.maximum(1.0 - spent[flat], 0.0)
        factor = np.where(q == 0.0, 0.0, q**2 / one_minus[:, np.newaxis])
        by_degree = np.where(p == 0.0, 0.0, p * factor)
        tail = np.zeros(n.size) if beyond == 0.0 else beyond / one_minus
        noisy = np.zeros(n.size) if variance == 0.0 else variance * spent / one_minus
    return np.exp(log_kappa), spent, by_degree, tail, noisy


def _root(log_eta: Floats, log_w: Floats, log_held: Floats, log_n: Floats) -> Floats:
    """ln κ by Newton's method on ln h as a function of ln κ, kept in a bracket; −inf for κ = 0."""
    # κ ≤ λ + T + Σw. κ ≥ λ + T, and κ ≥ η_j (Σ_{i≤j} N_i − n) in falling order of η, as x/(nx+κ) grows with x.
    high = np.logaddexp(log_held, np.logaddexp.reduce(log_w, initial=-math.inf))
    order = np.argsort(-log_eta, kind="stable")
    counts = np.cumsum(np.exp((log_w - log_eta)[order]))
    with np.errstate(divide="ignore"):
        more = np.log(np.maximum(counts - np.exp(log_n)[:, np.newaxis], 0.0))
    low = np.maximum(log_held, (log_eta[order] + more).max(axis=1, initial=-math.inf))
    found = np.full(log_n.size, -math.inf)
    todo = np.flatnonzero(low > -math.inf)
    low, high = low[todo] - 1e-9, high[todo] + 1e-9
    s = 0.5 * (low + high)
    for step in range(400):
        if not todo.size:
            return found
        value, slope = _log_h(s, log_eta, log_w, log_held[todo], log_n[todo])
        low, high = np.where(value > 0, s, low), np.where(value > 0, high, s)
        newton = s - value / slope
        # Every third step halves the bracket, so that it ends whatever the shape of h.
        safe = (newton > low) & (newton < high) & (step % 3 < 2)
        following = np.where(safe, newton, 0.5 * (low + high))
        tolerance = 4 * EPS * np.maximum(1.0, abs(s))
        done = (abs(following - s) <= tolerance) | (high - low <= tolerance) | (value == 0)
        found[todo[done]] = np.where(value == 0, s, following)[done]
        keep = ~done
        todo, low, high, s = todo[keep], low[keep], high[keep], following[keep]
    found[todo] = s
    return found


def _log_h(s: Floats, log_eta: Floats, log_w: Floats, log_held: Floats, log_n: Floats) -> tuple[Floats, Floats]:
    """ln h at ln κ = s, and its derivative."""
    below = np.logaddexp(log_n[:, np.newaxis] + log_eta, s[:, np.newaxis])  # ln(nη + κ)
    terms = np.exp(log_w - below)
    ridge = np.exp(log_held - s)
    h = ridge + terms.sum(axis=1)
    slope = -(ridge + (terms * np.exp(s[:, np.newaxis] - below)).sum(axis=1)) / h
    return np.log(h), slope
