"""Every loss keeps the contract, and agrees with formulas from elsewhere, also far out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray
from scipy import special
from sklearn import metrics

from simlab import losses
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.losses import tiles

Floats = NDArray[np.float64]
F = np.array([-700.0, -40.0, -1.5, -0.3, 0.0, 1e-9, 0.4, 1.0, 2.5, 36.0, 1000.0])[:, None]


@pytest.mark.parametrize(("kind", "fields"), catalogue.all_examples("losses"))
def test_every_loss_keeps_the_contract(kind: str, fields: dict[str, Any]) -> None:
    losses.check(losses.get(kind, **fields))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("logistic", lambda z: np.logaddexp(0.0, -z)),
        ("hinge", lambda z: np.where(z < 1.0, 1.0 - z, 0.0)),
        ("squared_hinge", lambda z: np.where(z < 1.0, (1.0 - z) ** 2 / 2, 0.0)),
        ("exponential", lambda z: np.where(z > -50.0, np.exp(-np.maximum(z, -50.0)), np.exp(50.0) * (-49.0 - z))),
    ],
)
def test_margin_losses_against_their_formulas(kind: str, value: Callable[[Floats], Floats], sign: float) -> None:
    y = np.full_like(F, sign)
    np.testing.assert_allclose(losses.get(kind).value(F, y), value(sign * F)[:, 0], rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("y", [0.0, 1.25])
def test_losses_of_residuals_against_their_formulas(y: float) -> None:
    Y, r = np.full_like(F, y), (F - y)[:, 0]
    np.testing.assert_allclose(losses.Squared().value(F, Y), r**2 / 2, rtol=1e-14)
    for width in (0.3, 1.0, 2.0):
        loss = losses.get("huber", width=width)
        np.testing.assert_allclose(loss.value(F, Y), special.huber(width, r), rtol=1e-14)
    for epsilon in (0.01, 0.5):
        scaled = special.pseudo_huber(epsilon, r) / epsilon  # ε²(√(1 + (r/ε)²) − 1)/ε
        np.testing.assert_allclose(losses.get("absolute", smoothing=epsilon).value(F, Y), scaled, rtol=1e-13)


def test_the_logistic_loss_keeps_its_digits_far_out() -> None:
    """Value, slope and curvature in 900 digits, where e^{−z} is lost beside 1 and where it overflows."""
    loss, one = losses.Logistic(), np.ones_like(F)
    with ctx.workprec(3000):
        e = [(-arb(float(z))).exp() for z in F[:, 0]]
        value = [float((1 + x).log()) for x in e]
        slope = [float(-x / (1 + x)) for x in e]
        curvature = [float(x / (1 + x) ** 2) for x in e]
    np.testing.assert_allclose(loss.value(F, one), value, rtol=1e-14)
    np.testing.assert_allclose(loss.slope(F, one)[:, 0], slope, rtol=1e-14)
    np.testing.assert_allclose(loss.curvature(F, one)[:, 0], curvature, rtol=1e-14)


def test_softmax_against_scipy() -> None:
    rng = np.random.default_rng(0)
    loss, classes = losses.Softmax(), rng.integers(5, size=60)
    f = 10.0 * rng.standard_normal((60, 5))
    y = loss.encode(classes, 5)
    rows = np.arange(60)
    np.testing.assert_allclose(loss.value(f, y), -special.log_softmax(f, axis=1)[rows, classes], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(loss.value(f, y), special.logsumexp(f, axis=1) - f[rows, classes], atol=1e-13)
    p = special.softmax(f, axis=1)
    np.testing.assert_allclose(loss.slope(f, y), p - y, rtol=1e-13, atol=1e-15)
    wanted = np.einsum("ij,jk->ijk", p, np.eye(5)) - p[:, :, None] * p[:, None, :]
    np.testing.assert_allclose(loss.curvature(f, y), wanted, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(loss.conjugate(p - y, y), special.xlogy(p, p).sum(axis=1), rtol=1e-10, atol=1e-13)
    assert np.isinf(loss.conjugate(p - y + 0.01, y)).all()


def test_softmax_keeps_its_digits_where_a_class_is_nearly_certain() -> None:
    loss, f = losses.Softmax(), np.array([[60.0, 0.0, -5.0], [-1000.0, 1000.0, 0.0]])
    y = loss.encode([0, 0], 3, several=False)
    with ctx.workprec(300):
        rest = arb(-60).exp() + arb(-65).exp()
        small, slope = float((1 + rest).log()), float(-rest / (1 + rest))
    assert loss.value(f, y) == pytest.approx([small, 2000.0], rel=1e-14)
    assert loss.slope(f, y)[0, 0] == pytest.approx(slope, rel=1e-14)
    assert loss.curvature(f, y)[0, 0, 0] == pytest.approx(-slope, rel=1e-14)


def test_two_classes_of_softmax_are_the_logistic_loss() -> None:
    z = F / 2.0
    two, one = losses.Softmax(), losses.Logistic()
    y = two.encode(np.ones(len(F), int), 2, several=False)
    np.testing.assert_allclose(two.value(np.hstack([-z, z]), y), one.value(F, np.ones_like(F)), rtol=1e-13)


def test_mean_losses_against_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    f, y = rng.standard_normal((50, 1)), rng.choice([-1.0, 1.0], (50, 1))
    wanted = metrics.log_loss(y[:, 0], special.expit(f[:, 0]))
    assert losses.Logistic().value(f, y).mean() == pytest.approx(wanted, rel=1e-13)
    assert losses.Hinge().value(f, y).mean() == pytest.approx(metrics.hinge_loss(y[:, 0], f[:, 0]), rel=1e-13)
    classes, scores = rng.integers(4, size=50), rng.standard_normal((50, 4))
    wanted = metrics.log_loss(classes, special.softmax(scores, axis=1), labels=range(4))
    one_hot = losses.Softmax().encode(classes, 4)
    assert losses.Softmax().value(scores, one_hot).mean() == pytest.approx(wanted, rel=1e-13)


def test_conjugates_are_suprema() -> None:
    """On a fine grid of f, for slopes s inside the domain; infinite outside."""
    grid = np.linspace(-60.0, 60.0, 240_001)
    for kind, fields in catalogue.all_examples("losses"):
        loss = losses.get(kind, **fields)
        if not loss.separable:
            continue
        y, steps = np.ones((1, 1)), np.ones((grid.size, 1))
        values = loss.value(grid[:, None], steps)
        for s in (-0.95, -0.3, -0.02):
            wanted = np.max(s * grid - values)
            assert loss.conjugate([[s]], y) == pytest.approx(wanted, abs=1e-5) or abs(s) > fields.get("width", 1.0)
    for kind in ("logistic", "hinge", "squared_hinge", "exponential"):
        assert losses.get(kind).conjugate([[0.1]], [[1.0]]) == np.inf
    for kind, s in (("logistic", -1.1), ("hinge", -1.1), ("exponential", -1e22), ("huber", 1.1), ("absolute", 1.1)):
        assert losses.get(kind).conjugate([[s]], [[1.0]]) == np.inf


def test_at_kinks() -> None:
    """A subgradient, and no curvature."""
    one = np.ones((1, 1))
    assert losses.Hinge().slope(one, one) == 0.0
    for kind, f in (("hinge", 1.0), ("squared_hinge", 1.0), ("huber", 2.0), ("exponential", -50.0)):
        assert losses.get(kind).curvature([[f]], one) == 0.0
        assert not losses.get(kind).smooth


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_the_squared_tile_does_these_operations(real: Any) -> None:
    """residual · weight, bit for bit: factor and labels are such that a fused product rounds as two operations do."""
    rng = np.random.default_rng(2)
    outputs, Y = rng.standard_normal((2, 9)).astype(real), rng.standard_normal((7, 2)).astype(real)
    residual = outputs[:, :7] - Y.T
    loop, a = losses.Squared().tile()
    got = outputs.copy()
    total = loop(got, Y, real(1.0), real(0.3), a)
    assert np.array_equal(got[:, :7], residual * real(0.3))
    assert np.array_equal(got[:, 7:], outputs[:, 7:])
    assert total == pytest.approx(np.sum(residual.astype(np.float64) ** 2) / 2, rel=1e-14)


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_given_writes_the_labels(real: Any) -> None:
    Y = np.random.default_rng(3).standard_normal((4, 3)).astype(real)
    out = np.full((3, 6), np.nan, real)
    assert tiles.given(out, Y, real(2.0), real(0.3), np.zeros(0)) == 0.0
    assert np.array_equal(out[:, :4], real(0.3) * Y.T)
    assert np.isnan(out[:, 4:]).all()


def test_functions_of_one_output_compute_in_the_type_that_they_are_given() -> None:
    import numba

    vector, real = numba.float64[::1], numba.float32
    for kind, cls in catalogue.loaded("losses").items():
        if not issubclass(cls, losses.Separable):
            continue
        for function in losses.get(kind).scalars()[:3]:  # type: ignore[attr-defined]
            function.compile((real, real, vector))
            assert function.overloads[(real, real, vector)].signature.return_type == real, (kind, function)


def test_arrays_of_another_shape_are_refused() -> None:
    for f, y in (([1.0], [1.0]), ([[1.0]], [[1.0], [2.0]]), ([["a"]], [[1.0]])):
        with pytest.raises(BadInput):
            losses.Logistic().value(f, y)
        with pytest.raises(BadInput):
            losses.Softmax().slope(f, y)
