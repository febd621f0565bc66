"""Gauss–Legendre quadrature on panels that shrink towards the places where a function varies.

A function that is analytic but for one point c, or varies on the length w about it, is integrated to 1e-14 by 16 nodes
on every panel of a partition whose panels are at most `GROWTH` times as long as they are far from c (the ellipse of
analyticity then has ρ ≥ 2.7, and the error is ρ^{−32}), or w where they touch it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit

Floats = NDArray[np.float64]

GROWTH = 3.6
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
"""on [−1, 1]"""


@jit
def next_edge(x: float, end: float, cap: float, centres: Floats, widths: Floats) -> float:
    """The right end of the panel that starts at x: at most cap long, not across a centre, not beyond `end`."""
    h = min(cap, end - x)
    for i in range(centres.shape[0]):
        r = x - centres[i]
        # Towards a centre it is the far end of the panel that is the nearer to it.
        room = GROWTH * r if r >= 0.0 else -r * GROWTH / (1.0 + GROWTH)
        h = min(h, max(room, widths[i]), math.inf if r >= 0.0 else -r)
    # A rest too short to be worth a panel is taken along; a step that rounding would swallow goes to the end.
    return end if x + h >= end - 1e-3 * h or x + h == x else x + h
