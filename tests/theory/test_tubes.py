"""Shares of spheres inside tubes: Arb, the asymptotic form, random points, a fine grid of the circle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx

from simlab.core.errors import BadInput
from simlab.theory.tubes import log_share, rate, share, share_bound, share_of_tubes


@pytest.mark.parametrize("dim", [2, 3, 10, 51, 1000, 10_000])
def test_one_tube_against_arb(dim: int) -> None:
    ratios = np.array([1 + 1e-9, 1.0001, 1.01, 1.1, 1.5, 2.0, 3.0, 10.0, 1e6])
    ctx.prec = 400
    try:
        exact = [((1 / arb(u) ** 2).beta_lower(arb(dim - 1) / 2, arb(1) / 2, True)).log() for u in ratios.tolist()]
    finally:
        ctx.prec = 53
    for got, true in zip(log_share(dim, ratios), exact, strict=True):
        assert abs(got - float(true)) <= 1e-12 * max(1.0, abs(float(true)))


def test_the_published_shares_at_twice_the_ball() -> None:
    found = [float(share(dim, 2.0)) for dim in (3, 10, 20)]
    assert found == pytest.approx([0.134, 5.67e-4, 3.92e-7], rel=1e-3)
    for dim in (100, 1000):  # and their asymptotic form, right to 1/d
        asymptotic = -(dim - 1) * math.log(2) + 0.5 * math.log(8 / (3 * math.pi * (dim - 1)))
        assert float(log_share(dim, 2.0)) == pytest.approx(asymptotic, abs=1 / dim)


def test_the_rate_is_the_logarithm_of_the_ratio() -> None:
    ratios = np.array([0.5, 1.0, 1.3, 2.0, 5.0])
    gaps = [np.abs(-log_share(dim, ratios) / dim - rate(ratios)).max() for dim in (10**3, 10**4, 10**5)]
    assert np.all(np.diff(np.log10(gaps)) < -0.7)  # like log(d)/d
    assert gaps[-1] < 1e-3


def test_everything_is_inside_up_to_the_ball_and_no_share_is_above_one() -> None:
    assert np.all(share(7, [0.0, 0.3, 1.0]) == 1.0)
    ratios = np.geomspace(1.0, 1e3, 200)
    assert np.all(np.diff(share(7, ratios)) < 0)
    three = np.array([0.5, 1.1, 50.0])
    assert share_bound(7, three, 10) == pytest.approx(np.minimum(1, 10 * share(7, three)), rel=1e-13)


@pytest.mark.parametrize("dim", [3, 6])
def test_actual_tubes_against_the_single_one_and_the_union_bound(dim: int) -> None:
    rng = np.random.default_rng(dim)
    ratios = np.array([0.7, 1.05, 1.2, 1.5, 2.0])
    one = share_of_tubes(rng.standard_normal((1, dim)), ratios, rng, 40_000)
    assert (one.share[0], one.error[0]) == (1.0, 0.0)
    assert np.all(np.abs(one.share - share(dim, ratios))[1:] < 4 * one.error[1:])
    both = share_of_tubes(np.eye(dim)[:2], ratios[2:], rng, 40_000)
    if dim == 3:  # tubes about two axes at right angles have no point in common beyond √2
        assert np.all(np.abs(both.share - 2 * share(dim, ratios[2:]))[1:] < 4 * both.error[1:])
    many = share_of_tubes(rng.standard_normal((9, dim)), ratios, rng, 40_000)
    assert np.all(many.share <= share_bound(dim, ratios, 9) + 4 * many.error)
    assert np.all(many.share >= one.share - 5 * one.error - 5 * many.error)


def test_arcs_on_the_circle_are_exact() -> None:
    rng = np.random.default_rng(4)
    V = rng.standard_normal((5, 2)) * [[3.0], [1.0], [0.1], [1.0], [1.0]]
    angles = (np.arange(200_000) + 0.5) * np.pi / 200_000
    across = np.abs(np.outer(np.cos(angles), V[:, 1]) - np.outer(np.sin(angles), V[:, 0])) / np.linalg.norm(V, axis=1)
    for ratio in (1.01, 1.5, 3.0, 20.0):
        grid = np.mean((ratio * across <= 1).any(axis=1))
        found = share_of_tubes(V, ratio)
        assert float(found.share) == pytest.approx(grid, abs=2e-4)
        assert float(found.error) == 0.0
    even = [[math.cos(a), math.sin(a)] for a in np.arange(6) * np.pi / 6]  # apart as far as can be: the bound itself
    assert share_of_tubes(even, [1.2, 3.0, 9.0]).share == pytest.approx(share_bound(2, [1.2, 3.0, 9.0], 6), rel=1e-13)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: share(1, 2.0), "dim = 1: tubes need a whole number, 2 or more"),
        (lambda: share(3, [1.0, -2.0]), "ratio\\[1\\] = -2.0: must be 0 or more"),
        (lambda: share(3, float("nan")), "ratio = nan: must be finite"),
        (lambda: share_bound(3, 2.0, 0), "width = 0: must be 1 or more"),
        (lambda: share_of_tubes([[0.0, 0.0]], 2.0), "every row must be finite and not 0"),
        (lambda: share_of_tubes(np.eye(3), 2.0), "random points are needed"),
    ],
)
def test_refused(call: object, says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
