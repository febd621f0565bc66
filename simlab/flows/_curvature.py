"""How large a step may be: λ_max of K/n and the largest diagonal entry of K, the tangent kernel on the training data.

The Gauss–Newton matrix of R_α has the same eigenvalues, whatever α, for the squared loss. For any other loss they are
at most as many times as large as its largest curvature ℓ'', by which λ_max is multiplied (`Loss.largest_curvature`).

Descent on the linearised loss contracts mode i by 1 − η λ_i, and is stable for η < 2/λ_max, "the edge". For
mini-batches of B samples drawn independently, with H = E J_iᵀJ_i and κ = max_i ‖J_i‖²,

    E H_B² = E ‖J_i‖² J_iᵀJ_i/B + (1 − 1/B) H² ⪯ (κ/B + (1 − 1/B) λ_max) H,

so that the mean square of the error does not grow for η ≤ 2/(κ/B + (1 − 1/B) λ_max); without replacement the variance
is smaller still. For few samples λ_max is that of `tangent_gram`, else it is found by power iteration on J Jᵀ/n with
pushes and pulls from a fixed start. That is deterministic, and from below by less than the tolerance where the largest
eigenvalue is well separated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.flows.problem import Problem
from simlab.networks.bound import Bound, diverged_weights

Array = NDArray[Any]
EXACT_ROWS = 1500
"""Up to so many samples λ_max is that of the Gram matrix: about 0.3 s for the largest."""
DIAGONAL_ROWS = 1000
"""Samples over which the largest diagonal entry of K is taken."""
TOLERANCE = 1e-5
"""Relative change of λ_max at which the power iteration ends."""
ITERATIONS = 300
"""The most iterations of the power iteration."""


def tangent(problem: Problem, key: str = "flow.step_unit") -> Bound:
    """The network, with push and pull; refuses, naming `key`, a loss that is not that of a network on samples."""
    if problem.bound is None:
        raise BadInput(f"{key}: there is no tangent kernel here; give an absolute step size")
    if not math.isfinite(problem.loss_kind.largest_curvature()):
        raise BadInput(
            f"{key}: the slope of loss.kind = {problem.loss_kind.kind!r} changes at no bounded rate; give an absolute "
            "step size"
        )
    return problem.bound


def edge(problem: Problem, theta: Array) -> float:
    """λ_max of K/n times the loss's largest curvature, as exactly as the number of samples allows."""
    n, c = problem.y.shape
    bend = problem.loss_kind.largest_curvature()
    if c == 1 and n <= EXACT_ROWS:
        network = tangent(problem).network
        with diverged_weights():
            K = network.tangent_gram(np.asarray(theta, np.float64), np.asarray(problem.X, np.float64))
        return bend * float(np.linalg.eigvalsh(K / n)[-1])
    return bend * power_iteration(problem, theta, start_vector(problem), ITERATIONS, TOLERANCE)


def start_vector(problem: Problem) -> Array:
    """(n, c), the same in every run."""
    return np.random.default_rng(0).standard_normal(problem.y.shape).astype(problem.dtype)


@diverged_weights()
def power_iteration(problem: Problem, theta: Array, vector: Array, iterations: int, tolerance: float = 0.0) -> float:
    """λ_max of J Jᵀ/n from below; `vector` becomes the eigenvector. 0 where J is, NaN where it is not finite."""
    bound, X, n = tangent(problem), problem.X, len(problem.X)
    found = 0.0
    for _ in range(iterations):
        norm = float(np.linalg.norm(vector.astype(np.float64)))
        if not 0.0 < norm < np.inf:
            return found if norm == 0.0 else float("nan")
        vector /= vector.dtype.type(norm)
        pulled = bound.pull(theta, vector, X)
        before, found = found, float(np.sum(np.square(pulled[problem.part], dtype=np.float64))) / n
        vector[...] = bound.push(theta, pulled, X)
        if abs(found - before) <= tolerance * found:
            break
    return found


@diverged_weights()
def largest_diagonal(problem: Problem, theta: Array) -> float:
    """max_i ‖J_i‖² over (at most the first DIAGONAL_ROWS of) the training samples, all outputs together."""
    largest = 0.0
    for i in range(min(len(problem.X), DIAGONAL_ROWS)):
        row = problem.X[i : i + 1]
        square = 0.0
        for k in range(problem.y.shape[1]):
            unit = np.zeros((1, problem.y.shape[1]), problem.dtype)
            unit[0, k] = 1.0
            pulled = tangent(problem).pull(theta, unit, row)[problem.part]
            square += float(np.sum(np.square(pulled, dtype=np.float64)))
        largest = max(largest, square)
    return largest


def batch_edge(problem: Problem, top: float, theta: Array, batch: int) -> float:
    """κ/B + (1 − 1/B) λ_max: what stands for λ_max with batches of B."""
    return largest_diagonal(problem, theta) / batch + (1.0 - 1.0 / batch) * top
