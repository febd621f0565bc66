"""Angles that keep their digits near 0 and π. MATH §1, §2."""

from __future__ import annotations

import math

from simlab.core.jit import jit


@jit
def angle(t: float, s: float) -> float:
    """θ = arccos u from t = 1 − u and s = 1 + u; angle(s, t) is π − θ."""
    return 2.0 * math.atan2(math.sqrt(t), math.sqrt(s))


@jit
def angles(t: float, s: float) -> tuple[float, float]:
    """(θ, π − θ), for the price of one arc tangent."""
    if t <= s:
        theta = angle(t, s)
        return theta, math.pi - theta
    rest = angle(s, t)
    return math.pi - rest, rest


@jit
def sine_minus_angle_cosine(theta: float, t: float, s: float) -> float:
    """sin θ − θ cos θ = Σ_{k≥1} (−1)^{k+1} 2k θ^{2k+1}/(2k+1)!, by the series below 1/2 where the terms cancel."""
    if theta > 0.5:
        return math.sqrt(t * s) - theta * (1.0 - t if t <= s else s - 1.0)
    x = theta * theta
    tail = 1.0 / 3991680.0 - x * (1.0 / 518918400.0 - x * (1.0 / 93405312000.0))
    return theta * x * (1.0 / 3.0 - x * (1.0 / 30.0 - x * (1.0 / 840.0 - x * (1.0 / 45360.0 - x * tail))))


@jit
def angle_minus_sine(theta: float) -> float:
    """θ − sin θ, by its series below 1/2."""
    if theta > 0.5:
        return theta - math.sin(theta)
    x = theta * theta
    tail = 1.0 - x / 72.0 * (1.0 - x / 110.0 * (1.0 - x / 156.0 * (1.0 - x / 210.0)))
    return theta * x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * tail))


@jit
def abs_loss(t: float, s: float) -> float:
    """1 − E|z||z'| at unit variances = r − (2/π)(sin ϑ − ϑ cos ϑ), r = 1 − |u| = 1 − cos ϑ: even in u."""
    near, far = min(t, s), max(t, s)
    return near - 2.0 / math.pi * sine_minus_angle_cosine(angle(near, far), near, far)
