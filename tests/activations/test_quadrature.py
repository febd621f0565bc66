"""Duals by quadrature over the whole range of variances, against Arb and against another decomposition of φ."""

from __future__ import annotations

import itertools
import math
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb
from scipy import special

from simlab import activations
from simlab.core.quadrature import NODES, WEIGHTS, next_edge
from tests.support.duals import dual_of


@pytest.mark.parametrize("kind", ["tanh", "softplus"])
@pytest.mark.parametrize("q", [1e-6, 0.01, 0.5, 5.0])
def test_against_the_hermite_series(kind: str, q: float) -> None:
    """τ to 1e-12 of itself, but for the rounding ε√τ of a difference of φ's; σ likewise near u = −1; Ḟ to 1e-11."""
    activation = activations.get(kind)
    ts = [1e-25, 1e-12, 1e-5, 0.01, 0.3, 1.0]
    with flint.ctx.workprec(120):
        us = [1 - arb(t) for t in ts] + [arb(t) - 1 for t in ts]
        F, slopes = activation.arb_dual(arb(q), [arb(1), *us], True)
        taus = [float(1 - f / F[0]) for f in F[1:]]
        sigmas = [float(1 + f / F[0]) for f in F[1:]]
    for i, (t, s) in enumerate([(t, 2 - t) for t in ts] + [(2 - t, t) for t in ts]):
        A, _, tau, sigma, slope = dual_of(activation, q, q, t, s)
        assert pytest.approx(float(F[0]), rel=1e-12) == A
        assert tau == pytest.approx(taus[i], rel=1e-12, abs=1e-15 * math.sqrt(taus[i]))
        assert sigma == pytest.approx(sigmas[i], rel=1e-12, abs=1e-15 * math.sqrt(sigmas[i]))
        assert slope == pytest.approx(float(slopes[i + 1]), rel=1e-11)


def saturating(kind: str, z: Any) -> Any:
    return np.tanh(z) if kind == "tanh" else np.logaddexp(0.0, z)


@pytest.mark.parametrize("kind", ["tanh", "softplus"])
@pytest.mark.parametrize(("q", "p"), [(1e2, 1e2), (1e4, 1e4), (1e6, 1e6), (1e6, 1e-6), (30.0, 1e5), (1e-3, 0.5)])
@pytest.mark.parametrize("u", [0.999999, 0.2, -0.5, -0.999])
def test_large_and_unequal_variances(kind: str, q: float, p: float, u: float) -> None:
    """Against tanh = sign + r, softplus = relu + r with an r that is negligible beyond |z| = 40.

    E φ(z)φ(z') = E_x φ(z) [ψ₀(x) + E_y r(z')], ψ₀ the Gaussian mean of sign or relu in closed form, and the rest over
    panels in x and z'.
    """
    v = math.sqrt((1 - u) * (1 + u))
    x, wx = pieces(0.0, -9.0, 9.0)
    z, mean, width = math.sqrt(q) * x, math.sqrt(p) * u * x, math.sqrt(p) * v
    density = lambda y: np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi)  # noqa: E731
    limit = (
        2 * special.ndtr(mean / width) - 1
        if kind == "tanh"
        else mean * special.ndtr(mean / width) + width * density(mean / width)
    )
    # E_y r(z') as an integral over z', where r lives
    lo, hi = np.maximum(-40.0, mean - 9 * width), np.minimum(40.0, mean + 9 * width)
    w, ww = pieces(np.clip(0.0, lo, hi), lo, np.maximum(lo, hi))
    r = saturating(kind, w) - (np.sign(w) if kind == "tanh" else np.maximum(w, 0.0))
    rest = np.sum(ww * r * density((w - mean[:, None]) / width), axis=-1) / width
    F = float(np.sum(wx * density(x) * saturating(kind, z) * (limit + rest)))
    A, B, tau, sigma, _ = dual_of(activations.get(kind), q, p, 1 - u, 1 + u)
    tolerance = 2e-12 + 2e-14 / math.sqrt(A * B)  # F is put together from parts of size 1
    assert tau == pytest.approx(1 - F / math.sqrt(A * B), abs=tolerance)
    assert sigma == pytest.approx(1 + F / math.sqrt(A * B), abs=tolerance)


def pieces(at: Any, lo: Any, hi: Any) -> tuple[Any, Any]:
    """24 nodes on each of 14 panels on both sides of `at`, halved towards it; a row for each entry of `at`."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    steps = np.concatenate([[0.0], 2.0 ** np.arange(-13, 1)])
    at, lo, hi = (np.asarray(value)[..., None] for value in (at, lo, hi))
    edges = np.concatenate([at - (at - lo) * steps[::-1], at + (hi - at) * steps[1:]], axis=-1)
    half, mid = np.diff(edges)[..., None] / 2, (edges[..., 1:] + edges[..., :-1])[..., None] / 2
    shape = (*edges.shape[:-1], -1)
    return (mid + half * nodes).reshape(shape), (half * weights).reshape(shape)


def test_panels_cover_once_and_stop_at_centres() -> None:
    centres, widths = np.array([0.3, 0.3 + 1e-9, -7.0, 50.0]), np.array([1e-6, 1e-12, 0.5, 1.0])
    edges = [-8.5]
    while edges[-1] < 8.5:
        edges.append(next_edge(edges[-1], 8.5, 4.0, centres, widths))
    assert edges[-1] == 8.5
    assert {0.3, 0.3 + 1e-9, -7.0} <= set(edges)
    assert len(edges) < 70
    # |x − 0.3|^½, a singularity that plain panels integrate to three digits
    total = 0.0
    for left, right in itertools.pairwise(edges):
        x = (left + right) / 2 + (right - left) / 2 * NODES
        total += float(np.sum(np.sqrt(np.abs(x - 0.3)) * WEIGHTS) * (right - left) / 2)
    assert total == pytest.approx(2 / 3 * (8.8**1.5 + 8.2**1.5), rel=1e-9)
