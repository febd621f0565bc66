"""Momentum on a quadratic against the closed form of its recursion."""

from __future__ import annotations

import numpy as np
import pytest

from simlab.flows.momentum import Momentum
from tests.support.flow_problems import Array, linear, streams


def closed_form(start: Array, lam: Array, eta: float, beta: float, nesterov: bool, t: int) -> Array:
    """e_{t+1} = p e_t − q e_{t−1} from e_0 and e_1 = (1 − ηλ) e_0: a sum of powers of the roots of r² − p r + q."""
    shrink = 1.0 - eta * lam
    p, q = (shrink * (1.0 + beta), shrink * beta) if nesterov else (shrink + beta, np.full_like(lam, beta))
    root = np.sqrt((p * p - 4.0 * q).astype(complex))
    high, low = (p + root) / 2.0, (p - root) / 2.0
    found: Array = (start * ((shrink - low) * high**t - (shrink - high) * low**t) / root).real
    return found


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("t", [1, 2, 60])
def test_on_a_quadratic(nesterov: bool, t: int) -> None:
    problem, theta0, A, b = linear()
    lam, V = np.linalg.eigh(A)
    eta, beta = 0.8 / lam[-1], 0.7
    flow = Momentum(steps=t, step=eta, momentum=beta, nesterov=nesterov)
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, t, 1e9)
    best = np.linalg.solve(A, b)
    predicted = closed_form(V.T @ (theta0[problem.part] - best), lam, eta, beta, nesterov, t)
    assert np.allclose(V.T @ (state.theta[problem.part] - best), predicted, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("nesterov", [False, True])
def test_the_largest_stable_step_is_that_of_the_docstring(nesterov: bool) -> None:
    problem, theta0, A, _ = linear()
    top, beta = np.linalg.eigvalsh(A)[-1], 0.6
    losses = []
    for share in (0.98, 1.02):
        eta = share * 2 * (1 + beta) / ((1 + 2 * beta) if nesterov else 1) / top
        flow = Momentum(steps=600, step=eta, momentum=beta, nesterov=nesterov)
        state = flow.start(problem, theta0, streams())
        flow.advance(problem, state, 600, 1e9)
        losses.append(problem.loss(state.theta) / problem.loss(theta0))
    assert losses[0] < 1 < 100 < losses[1]
