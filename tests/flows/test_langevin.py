"""Langevin's stationary law on a quadratic."""

from __future__ import annotations

import numpy as np

from simlab.flows.langevin import Langevin
from tests.support.flow_problems import linear, streams


def test_stationary_mean_and_covariance_on_a_quadratic() -> None:
    """θ ← θ − η(Aθ − b) + √(2ηT) ξ is autoregressive: in an eigenvector of A = ∇²R + ρ with eigenvalue λ its variance
    is T/(λ(1 − ηλ/2)), and draws 20 steps apart are correlated by (1 − ηλ)²⁰, here below 0.01: 2000 of them give the
    variance to √(2/2000) of itself and the mean to σ/√2000. Within four of these standard errors.
    """
    problem, theta0, H, b = linear()
    ridge, temperature, draws, apart = 1.0, 0.3, 2000, 20
    lam, V = np.linalg.eigh(H + ridge * np.eye(len(H)))
    eta = 1.5 / lam[-1]
    assert (1 - eta * lam[0]) ** apart < 0.01
    flow = Langevin(steps=10**6, step=eta, temperature=temperature, ridge=ridge)
    state = flow.start(problem, theta0, streams())
    found = []
    for k in range(1, draws + 11):
        flow.advance(problem, state, apart * k, 1e9)
        found.append(V.T @ (state.theta[problem.part] - np.linalg.solve(H + ridge * np.eye(len(H)), b)))
    modes = np.array(found[10:])
    variance = temperature / (lam * (1 - eta * lam / 2))
    assert np.all(np.abs(np.var(modes, axis=0) / variance - 1) < 4 * np.sqrt(2 / draws))
    assert np.all(np.abs(np.mean(modes, axis=0)) < 4 * np.sqrt(variance / draws))
    assert np.all(np.abs(np.corrcoef(modes.T) - np.eye(len(lam))) < 4.5 / np.sqrt(draws))
