"""Exact population risk and gradient against Monte Carlo, Arb, finite differences and invariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from simlab import data
from simlab.core.errors import BadInput
from simlab.data.gaussian import Gaussian
from simlab.data.law import Law
from simlab.data.uniform_sphere import UniformSphere
from simlab.theory.population import risk, risk_gradient, second_moment

Floats = NDArray[np.float64]
Net = tuple[Floats, Floats, Floats, Floats]
LAWS = (
    UniformSphere(dim=6),
    UniformSphere(dim=6, radius=6**0.5),
    Gaussian(dim=6),
    Gaussian(dim=6, scale=0.3),
)


def nets(near: float = 1.0, m: int = 5, d: int = 6, k: int = 3, seed: int = 0) -> Net:
    """Student and teacher; of the student's neurons k are `near` the teacher's, and the others almost absent."""
    rng = np.random.default_rng(seed)
    a, W = rng.standard_normal(m), rng.standard_normal((m, d))
    c, V = rng.standard_normal(k), rng.standard_normal((k, d))
    a[k:] *= near
    return np.concatenate([c + near * a[:k], a[k:]]), np.concatenate([V + near * W[:k], W[k:]]), c, V


def monte_carlo(net: Net, law: Law, samples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(R, ∂R/∂a, ∂R/∂W) over samples, flat, and its standard errors."""
    a, W, c, V = net
    total, squares = np.zeros(1 + W.size + a.size), np.zeros(1 + W.size + a.size)
    for done in range(0, samples, 50_000):
        n = min(50_000, samples - done)
        X = law.sample(n, rng)
        H = np.maximum(X @ W.T, 0.0)
        e = H @ a - np.maximum(X @ V.T, 0.0) @ c
        slopes = e[:, np.newaxis] * a * (H > 0)
        total += np.concatenate([[e @ e / 2], H.T @ e, (slopes.T @ X).ravel()])
        squares += np.concatenate([[np.sum(e**4) / 4], (H**2).T @ e**2, ((slopes**2).T @ X**2).ravel()])
    mean = total / samples
    return mean, np.sqrt((squares / samples - mean**2) / samples)


def flat(net: Net, law: Law) -> Floats:
    ga, gW = risk_gradient(*net, law)
    return np.concatenate([[risk(*net, law)], ga, gW.ravel()])


@pytest.mark.parametrize("law", LAWS)
def test_against_samples(law: Law) -> None:
    """36 numbers, mean square of their errors 1 ± 0.24 in units of the standard error: each within 4, all together."""
    mean, error = monte_carlo(nets(), law, 100_000, np.random.default_rng(7))
    off = (flat(nets(), law) - mean) / error
    assert np.max(np.abs(off)) < 4.0
    assert np.mean(off**2) < 2.0


def test_against_ten_million_samples() -> None:
    net = nets(m=8, d=6, k=3, seed=3)
    mean, error = monte_carlo(net, LAWS[1], 10_000_000, np.random.default_rng(11))
    assert np.max(np.abs(flat(net, LAWS[1]) - mean) / error) < 3.0


@pytest.mark.parametrize("near", [1.0, 1e-3, 1e-7])
def test_gradient_against_differences_of_the_risk(near: float) -> None:
    """Central differences by steps far below the distance to the kink at the teacher; error h²/6 of the third."""
    a, W, c, V = nets(near)
    ga, gW = risk_gradient(a, W, c, V, LAWS[0])
    h = 1e-4 * near
    theta, found = np.concatenate([a, W.ravel()]), np.empty(a.size + W.size)

    def at(theta: Floats) -> float:
        return risk(theta[: a.size], theta[a.size :].reshape(W.shape), c, V, LAWS[0])

    for i in range(theta.size):
        step = np.where(np.arange(theta.size) == i, h, 0.0)
        ahead, behind = theta + step, theta - step
        found[i] = (at(ahead) - at(behind)) / (ahead[i] - behind[i])
    size = np.linalg.norm(found)
    assert np.linalg.norm(np.concatenate([ga, gW.ravel()]) - found) < 1e-7 * size


def exactly(net: Net, mu: Any) -> Any:
    """R in Arb, straight from κ1."""
    a, W, c, V = net
    b = [arb(float(x)) for x in (*a, *-c)]
    U = [[arb(float(x)) for x in row] for row in (*W, *V)]
    total = arb(0)
    for i, u in enumerate(U):
        for j, v in enumerate(U):
            p, nu, nv = (sum((x * y for x, y in zip(*pair, strict=True)), arb(0)) for pair in ((u, v), (u, u), (v, v)))
            kappa = p
            if i != j:
                theta = arb.atan2((nu * nv - p * p).sqrt(), p)
                kappa = (nu * nv).sqrt() * (theta.sin() + (arb.pi() - theta) * theta.cos()) / arb.pi()
            total += b[i] * b[j] * kappa
    return mu * total / 4


@pytest.mark.parametrize("near", [1.0, 1e-5, 1e-10])
def test_risk_against_arb(near: float) -> None:
    """A difference of numbers of size 1 that is 1e-20: to 1e-9 of itself. Doubles alone would give 1e-16."""
    net = nets(near)
    before, ctx.dps = ctx.dps, 70
    try:
        exact = float(exactly(net, arb(1) / 6).mid())
    finally:
        ctx.dps = before
    assert abs(risk(*net, LAWS[0]) / exact - 1.0) < 1e-9
    assert near > 1e-9 or exact < 1e-18


def test_rotations_change_nothing_and_move_the_gradient_along() -> None:
    a, W, c, V = nets()
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    assert risk(a, W @ Q, c, V @ Q, LAWS[2]) == pytest.approx(risk(a, W, c, V, LAWS[2]), rel=1e-13)
    for turned, plain in zip(
        risk_gradient(a, W @ Q, c, V @ Q, LAWS[2]), risk_gradient(a, W, c, V, LAWS[2]), strict=True
    ):
        assert np.allclose(turned, plain if plain.ndim == 1 else plain @ Q, rtol=1e-12, atol=1e-13)


def test_known_values_and_neurons_of_zero() -> None:
    """Alone a unit neuron has ½E σ² = 1/4 on radius √d; against itself 0; a neuron of zero counts for nothing."""
    v = np.array([[0.6, 0.8]])
    one, none = np.ones(1), np.zeros(1)
    law = UniformSphere(dim=2, radius=2**0.5)
    assert risk(none, v, one, v, law) == pytest.approx(0.25, rel=1e-15)
    assert risk(one, v, one, v, law) < 1e-31
    assert risk(one, v, one, -v, law) == pytest.approx(0.5, rel=1e-15)
    zero, W = np.zeros((1, 2)), np.array([[1.0, -0.5]])
    assert risk(np.ones(2), np.concatenate([W, zero]), one, v, law) == risk(one, W, one, v, law)
    ga, gW = risk_gradient(np.ones(2), np.concatenate([W, zero]), one, v, law)
    alone, gW_alone = risk_gradient(one, W, one, v, law)
    assert np.allclose(ga, [alone[0], 0.0], rtol=1e-15)
    assert np.allclose(gW, [gW_alone[0], [0.0, 0.0]], rtol=1e-15)


def test_the_sphere_of_given_inputs() -> None:
    X = UniformSphere(dim=6, radius=3.0).sample(20, np.random.default_rng(0))
    assert second_moment(X) == pytest.approx(1.5, rel=1e-13)
    assert risk(*nets(), X) == pytest.approx(risk(*nets(), UniformSphere(dim=6, radius=3.0)), rel=1e-13)
    X[4] *= 1.001
    with pytest.raises(BadInput, match=r"law: row 4 of the inputs has norm 3\.003 .* on one sphere"):
        risk(*nets(), X)


@pytest.mark.parametrize("law", [("boolean_cube", {"dim": 6}), ("arrays", {"path": "x.npy"})])
def test_other_laws_are_refused(law: tuple[str, dict[str, Any]]) -> None:
    with pytest.raises(BadInput, match=rf"law = '{law[0]}'.*allowed: gaussian, uniform_sphere"):
        risk(*nets(), data.get(law[0], **law[1]))


def test_arrays_that_do_not_fit() -> None:
    a, W, c, V = nets()
    with pytest.raises(BadInput, match="a: 4 numbers; must be 5"):
        risk(a[:4], W, c, V, LAWS[0])
    with pytest.raises(BadInput, match=r"V: shape \(3, 5\); must be \(k, 6\)"):
        risk(a, W, c, V[:, :5], LAWS[0])
    with pytest.raises(BadInput, match=r"law: inputs in R\^7; must be in R\^6"):
        risk(a, W, c, V, UniformSphere(dim=7))
    with pytest.raises(BadInput, match=r"W\[0, 0\] = nan"):
        risk(a, np.full_like(W, np.nan), c, V, LAWS[0])


@pytest.mark.parametrize("power", [-600, -300, 300, 500])
def test_norms_of_any_size(power: int) -> None:
    """Powers of 2 moved between the layers change nothing; those taken out of the net come out squared."""
    a, W, c, V = nets()
    s, law = 2.0**power, LAWS[2]
    moved = a / s, W * s, c / s, V * s
    assert risk(*moved, law) == pytest.approx(risk(a, W, c, V, law), rel=1e-14)
    if abs(power) == 300:
        assert risk(a, W * s, c, V * s, law) == pytest.approx(risk(a, W, c, V, law) * s**2, rel=1e-14)
    for found, plain, factor in zip(
        risk_gradient(*moved, law), risk_gradient(a, W, c, V, law), (s, 1 / s), strict=True
    ):
        np.testing.assert_allclose(found / factor, plain, rtol=1e-12)
