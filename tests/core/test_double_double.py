"""Twice the digits, against Arb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from simlab.core import double_double as dd


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    before, ctx.dps = ctx.dps, 60
    yield
    ctx.dps = before


def pair(x: Any) -> dd.Double:
    high = float(x.mid())
    return high, float((x - arb(high)).mid())


def off(found: dd.Double, exact: Any) -> float:
    return abs(float((arb(found[0]) + arb(found[1]) - exact).mid()))


def test_four_operations_and_the_root() -> None:
    rng = np.random.default_rng(0)
    for x, y in rng.standard_normal((50, 2)):
        X, Y = arb(float(x)).exp(), -arb(float(y)).exp()
        a, b = pair(X), pair(Y)
        for found, exact in ((dd.mul(a, b), X * Y), (dd.div(a, b), X / Y), (dd.sqrt(a), X.sqrt())):
            assert off(found, exact) < 1e-31 * abs(float(exact.mid()))
        assert off(dd.add(a, b), X + Y) < 1e-31 * (a[0] - b[0])


def test_angles_near_the_ends_and_between() -> None:
    rng = np.random.default_rng(1)
    small = 10.0 ** rng.uniform(-15, 0, 40)
    for theta in (*small, *(np.pi - small), *rng.uniform(0, np.pi, 40), 0.0):
        t, r = arb(float(theta)), arb(float(rng.uniform(0.1, 10)))
        assert off(dd.angle(pair(r * t.sin()), pair(r * t.cos()), pair(r)), t) < 1e-31
