"""Small problems for tests of flows: two-layer nets on Gaussian inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab import networks
from simlab.core.rng import Streams
from simlab.flows.problem import Problem
from simlab.networks.bound import Bound

Array = NDArray[Any]
n, d, m = 12, 4, 8


def target(X: Array) -> Array:
    return np.sin(X @ np.arange(1.0, X.shape[1] + 1.0))


def fresh(rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.standard_normal((rows, d))
    return X, target(X)


def small(alpha: float = 1.0, dtype: Any = np.float64, **fields: Any) -> tuple[Problem, Array]:
    """(problem, θ₀) of a tanh net, or as `fields` say."""
    network: Any = networks.get("two_layer", **({"width": m, "activation": "tanh"} | fields))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    theta0 = network.initialise(d, rng)
    return Problem.of(Bound(network, d, dtype), X, target(X), alpha, width=network.width, fresh=fresh), theta0


def linear() -> tuple[Problem, Array, Array, Array]:
    """(problem, θ₀, A, b): only the second layer is trained, so that R = ½ a·A a − b·a + const and ∇R = A a − b."""
    problem, theta0 = small(trained="second", scaling="none")
    Phi = np.column_stack(
        [problem.bound.value(_only(theta0, problem.part, k), problem.X)[:, 0] for k in range(*problem.span)]
    )
    return problem, theta0, Phi.T @ Phi / n, Phi.T @ problem.y[:, 0] / n


def _only(theta: Array, trained: slice, k: int) -> Array:
    found = theta.copy()
    found[trained] = 0.0
    found[k] = 1.0
    return found


def streams() -> Streams:
    return Streams(5)
