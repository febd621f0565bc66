"""The power at which eigenvalues decay, fitted, with a confidence interval. MATH §4.

One singularity t^ν gives μ_k = C Γ(k−ν)/Γ(k+ν+d−1) = C Γ(x+½−s)/Γ(x+½+s), x = k + (d−2)/2, s = ν + (d−1)/2, which is
x^{−2s}(1 + O(s³/x²)): the power itself only for k ≫ d². So the ratio is fitted, in s, and not the power; a next
singularity t^{ν+1} adds a relative 1/x², which is a column of its own. Even and odd degrees have one exponent and
their own constants. p = 2s: μ_k ~ k^{−p}, ν = (p−d+1)/2.

What the model leaves out is no noise: it is smooth in k and decays. So the interval is Student's for the residuals
plus twice the change of p from the lower half of the window to the upper. A small ν (step, depth ≥ 4) is followed by
t^{2ν}, whose share falls like k^{−2ν}, too slowly to be seen in a window: `SLOW_SHARE` allows for it. ReLU of depths
2 to 8 and step of depths 2 to 6, d = 2 … 100, degrees up to 40, 80, 120: the true exponent lies in all of 252
intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi, stdtrit

from simlab.core import checks
from simlab.core.errors import BadInput, SimlabError, shown

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WIDEST_POWER_LAW = 0.5
"""Largest half-width of the interval of p at which the decay is called a power."""

WINDOW = "two degrees, the first and the last"

SLOW_SHARE = 0.3
"""Share of t^{2ν} in the bias of the exponent for ν < 0.2; fits of the step of depth 5 and 6 show 0.04 to 0.2."""


@dataclass(frozen=True)
class Decay:
    """μ_k ~ 10^log10_constants[k mod 2] · k^{−exponent}.

    exponent: p.
    interval: 95 % confidence interval of p.
    nu: (exponent − d + 1)/2.
    log10_constants: of even and of odd degrees; nan where a parity was not used.
    power_law: False where the interval is wider than ±0.5: the decay is no power (a smooth kernel), or the degrees do
        not reach it yet.
    window: first and last degree used.
    """

    exponent: float
    interval: tuple[float, float]
    nu: float
    log10_constants: tuple[float, float]
    power_law: bool
    window: tuple[int, int]


def fit_decay(
    degrees: Integers, log10: Floats, dim: int, *, parity: str | None = None, window: tuple[int, int] | None = None
) -> Decay:
    """Fit over the degrees in `window` (default: the upper half) of one parity, "even" or "odd", or of both."""
    if parity is not None:
        checks.choice(parity, "parity", ("even", "odd"))
    if window is not None:
        first, *rest = [checks.whole(k, "window", least=0) for k in checks.listed(window, "window", WINDOW)] or [0]
        if len(rest) != 1:
            raise BadInput(f"window = {shown(window)}: must be {WINDOW}")
        window = (first, rest[0])
    use = np.isfinite(log10) & (degrees >= 1)
    if parity is not None:
        use &= degrees % 2 == (parity == "odd")
    k, y = degrees[use], log10[use] * np.log(10)
    if window is None:
        window = (int(k[-1]) // 2, int(k[-1])) if k.size else (0, 0)
    inside = (k >= window[0]) & (k <= window[1])
    # A parity of two stray degrees (k = 1 of a depth-2 kernel) is none.
    for odd in (0, 1):
        if np.count_nonzero(inside & (k % 2 == odd)) < 4:
            inside &= k % 2 != odd
    if np.count_nonzero(inside) < 8:
        raise SimlabError(
            f"a fit of the decay needs 8 eigenvalues other than 0, there are {np.count_nonzero(inside)} from degree "
            f"{window[0]} to {window[1]}; ask for more degrees"
        )
    s, spread, constants = _solve(k[inside], y[inside], dim)
    middle = (window[0] + window[1]) // 2
    halves = [inside & (k <= middle), inside & (k > middle)]
    below, above = (_solve(k[half], y[half], dim)[0] if np.count_nonzero(half) >= 6 else s for half in halves)
    p, nu = 2 * s, s - (dim - 1) / 2
    slow = SLOW_SHARE * abs(nu) if nu < 0.2 else 0.0
    half_width = 2 * (spread + 2 * max(abs(above - below), abs(above - s)) + slow)
    return Decay(
        exponent=p,
        interval=(p - half_width, p + half_width),
        nu=nu,
        log10_constants=constants,
        power_law=bool(half_width <= WIDEST_POWER_LAW),
        window=(int(k[inside][0]), int(k[inside][-1])),
    )


def _solve(k: Integers, y: Floats, dim: int) -> tuple[float, float, tuple[float, float]]:
    """(s, half of its 95 % interval by the residuals, log10 constants) by Gauss–Newton in s."""
    x = k + 0.5 * (dim - 2)
    parities = [odd for odd in (0, 1) if np.any(k % 2 == odd)]
    columns = [np.where(k % 2 == odd, power, 0.0) for odd in parities for power in (np.ones(x.size), (x[0] / x) ** 2)]
    # μ_{k+1}/μ_k = (x+½−s)/(x+½+s) gives s at once, taken over the whole window as a power to start with.
    rate = np.exp((y[-1] - y[0]) / (x[-1] - x[0]))
    s = float(np.clip(0.5 * (x[0] + x[-1]) * (1 - rate) / (1 + rate), 0.25, 0.99 * x[0]))
    for _ in range(50):
        model = gammaln(x + 0.5 - s) - gammaln(x + 0.5 + s)
        slope = -psi(x + 0.5 - s) - psi(x + 0.5 + s)
        A = np.stack([slope, *columns], axis=1)
        solution, _, rank, _ = np.linalg.lstsq(A, y - model, rcond=None)
        step = float(solution[0])
        s = float(np.clip(s + step, 0.5 * s, 0.5 * (s + x[0] + 0.5)))  # Γ(x + ½ − s) has its pole at x + ½
        if abs(step) < 1e-13 * s:
            break
    residual = y - model - A @ solution
    freedom = max(1, x.size - rank)
    spread = np.sqrt(residual @ residual / freedom * np.linalg.pinv(A.T @ A)[0, 0])
    logs = [np.nan, np.nan]
    for i, odd in enumerate(parities):
        logs[odd] = float(solution[1 + 2 * i] / np.log(10))
    return s, float(spread * stdtrit(freedom, 0.975)), (logs[0], logs[1])
