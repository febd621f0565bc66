"""Kernel gradient flow: closed form, solvers and gradient descent agree; the limit is the interpolant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from simlab.core.errors import BadInput
from simlab.kernels import gaussian, laplace, ntk
from simlab.machines import KernelFlow, KernelRidge, dense

X, TEST = np.split(np.random.default_rng(21).standard_normal((40, 4)) / 2.0, [30])
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]])
START, START_TEST = np.cos(X[:, :2]), np.cos(TEST[:, :2])
TIMES = np.array([0.0, 0.01, 1.0, 30.0, 400.0])


def test_closed_form_is_the_matrix_exponential() -> None:
    flow = KernelFlow(ntk(3), rate=0.7).fit(X, Y, START)
    K = ntk(3).gram(X)
    for time, train, test in zip(TIMES, flow.train(TIMES), flow.predict(TEST, TIMES, START_TEST), strict=True):
        decay = scipy.linalg.expm(-0.7 * time / 30 * K)
        np.testing.assert_allclose(train, Y + decay @ (START - Y), atol=1e-12)
        alpha = np.linalg.solve(K, (np.eye(30) - decay) @ (Y - START))
        np.testing.assert_allclose(test, START_TEST + ntk(3).gram(TEST, X) @ alpha, atol=1e-9)
    assert np.array_equal(flow.train(0.0)[0], START)


@pytest.mark.parametrize(("method", "rtol"), [("DOP853", 1e-10), ("RK45", 1e-8), ("Radau", 1e-7)])
def test_solvers_agree_with_the_closed_form(method: str, rtol: float) -> None:
    times = TIMES[[3, 0, 4, 1, 2, 2]]  # in any order, twice the same
    closed = KernelFlow(ntk(3), rate=0.7).fit(X, Y, START)
    solved = KernelFlow(ntk(3), rate=0.7, method=method, rtol=rtol).fit(X, Y, START)
    np.testing.assert_allclose(solved.train(times), closed.train(times), atol=100 * rtol)
    found, exact = (flow.predict(TEST, times, START_TEST) for flow in (solved, closed))
    np.testing.assert_allclose(found, exact, atol=1e3 * rtol)
    np.testing.assert_allclose(solved.loss(times), closed.loss(times), atol=100 * rtol)


def test_gradient_descent_is_of_first_order() -> None:
    """The fitted slope of log error against log step; the flow's own halved step halves the error."""
    times = [0.5, 2.0, 7.0]
    exact = KernelFlow(laplace(1.0), rate=2.0).fit(X, Y[:, 0]).predict(TEST, times)
    steps = np.array([0.4, 0.2, 0.1, 0.05, 0.025])
    errors = [
        np.abs(KernelFlow(laplace(1.0), 2.0, method="euler", step=h).fit(X, Y[:, 0]).predict(TEST, times) - exact).max()
        for h in steps
    ]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.03)


def test_one_step_of_descent_is_the_formula() -> None:
    found = KernelFlow(ntk(2), 0.5, method="euler", step=0.25).fit(X, Y, START).train([0.25])[0]
    np.testing.assert_allclose(found, START + 0.25 * 0.5 / 30 * ntk(2).gram(X) @ (Y - START), rtol=1e-13)


def test_the_limit_is_the_interpolant_and_the_loss_falls() -> None:
    flow = KernelFlow(ntk(3)).fit(X, Y)
    interpolant = KernelRidge(ntk(3)).fit(X, Y).predict(TEST)
    np.testing.assert_allclose(flow.predict(TEST, [np.inf])[0], interpolant, atol=1e-10)
    np.testing.assert_allclose(flow.predict(TEST, [1e9])[0], interpolant, atol=1e-10)
    alpha = dense.solve(ntk(3).gram(X), Y - START, 0.0).coefficients
    started = KernelFlow(ntk(3)).fit(X, Y, START).coefficients([np.inf])[0]
    np.testing.assert_allclose(started, alpha, atol=1e-9 * np.abs(alpha).max())
    loss = flow.loss(np.linspace(0.0, 50.0, 200))
    assert (np.diff(loss) < 0).all()
    assert loss[0] == pytest.approx(0.5 * np.sum(Y**2) / 30)


DOUBLED = np.vstack([X, X[:3], np.zeros((1, 4))]), np.concatenate([Y[:, 0], Y[:3, 0] + 1.0, [2.0]])


def test_the_null_space_never_moves() -> None:
    data, labels = DOUBLED
    flow, times = KernelFlow(ntk(2)).fit(data, labels), [0.0, 1.0, 1e5, 1e300, np.inf]
    train = flow.train(times)
    np.testing.assert_allclose(train[:, :3], train[:, 30:33], atol=1e-9)  # the same input, the same value
    assert np.array_equal(train[:, 33], np.zeros(5))  # the kernel vanishes at the zero vector
    np.testing.assert_allclose(train[-1], KernelRidge(ntk(2)).fit(data, labels).predict(data), atol=1e-9)
    solved = KernelFlow(ntk(2), method="RK45").fit(data, labels)
    np.testing.assert_allclose(solved.predict(TEST, [1.0, 20.0]), flow.predict(TEST, [1.0, 20.0]), atol=1e-6)


def test_a_gram_of_any_condition_stays_finite() -> None:
    """Eigenvalues of exp(−0.01 r²) fall through all of float64: no digit is left of the small ones."""
    flow, times = KernelFlow(gaussian(0.01)).fit(*DOUBLED), [0.0, 1.0, 1e5, 1e20, 1e300, np.inf]
    assert np.isfinite(flow.predict(TEST, times)).all()
    assert (np.diff(flow.loss(times)) <= 0).all()


def test_short_times_keep_their_digits() -> None:
    """f_t ≈ (ηt/n) K(x, X) y at t = 1e-12, to the relative t that the next order adds."""
    flow = KernelFlow(ntk(2)).fit(X, Y[:, 0])
    first = 1e-12 / 30 * ntk(2).gram(TEST, X) @ Y[:, 0]
    np.testing.assert_allclose(flow.predict(TEST, [1e-12])[0], first, rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KernelFlow("ntk"), "kernel = 'ntk': must be a kernel"),
        (lambda: KernelFlow(ntk(2), rate=0.0), "rate = 0.0: must be above 0"),
        (lambda: KernelFlow(ntk(2), rate=float("nan")), "rate = nan: must be finite"),
        (lambda: KernelFlow(ntk(2), method="magic"), "method = 'magic': unknown"),
        (lambda: KernelFlow(ntk(2), step=0.1), "a step goes with"),
        (lambda: KernelFlow(ntk(2), method="euler"), "a step goes with"),
        (lambda: KernelFlow(ntk(2), method="euler", step=1e4).fit(X, Y), "step = 10000: must be below"),
        (lambda: KernelFlow(ntk(2), method="euler", step=1e-9).fit(X, Y).train([1.0]), "at most 1e+07"),
        (lambda: KernelFlow(ntk(2), method="RK45").fit(X, Y).train([np.inf]), 'only method = "closed"'),
        (lambda: KernelFlow(ntk(2)).fit(X, Y).train([-1.0]), "must be a list of numbers, at least 0"),
        (lambda: KernelFlow(ntk(2)).fit(X, Y).train([np.nan]), "must be a list of numbers, at least 0"),
        (lambda: KernelFlow(ntk(2)).fit(X, Y).predict(TEST[:, :2], [1.0]), "X has 2 features: must have 4"),
        (lambda: KernelFlow(ntk(2)).fit(X, Y).predict(TEST, [1.0], START_TEST), "or to neither"),
        (lambda: KernelFlow(ntk(2)).fit(X, Y, START[:, 0]), "initial has shape (30,): must be (30, 2)"),
        (lambda: KernelFlow(ntk(2)).fit(X, np.full(30, np.nan)), "y[0] = nan: must be finite"),
        (lambda: KernelFlow(ntk(2)).train([1.0]), "not fitted"),
    ],
)
def test_refuses_in_one_line(call: Any, message: str) -> None:
    with pytest.raises(BadInput) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
