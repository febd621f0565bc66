"""What the contestants of mlp.py share: which inputs a loss takes, and the answers, in NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays

Matrices = list[NDArray[Any]]


def start(parameters: dict[str, Any], inputs: Arrays) -> tuple[NDArray[Any], Matrices]:
    """y : (n, outputs) of the loss, and W¹ … W⁴ at the start."""
    c = parameters["outputs"]
    return inputs[f"y {parameters['loss']} {c}"], [inputs[name] for name in ("W1", "W2", "W3", f"W4 {c}")]


def output_factor(d: int, m: int) -> float:
    """√(2/d) √(2/m)³: all factors of f, which the homogeneous σ lets through."""
    return float((2 / d) ** 0.5 * (2 / m) ** 1.5)


def answers(early: Matrices, last: Matrices, begun: Matrices, X: NDArray[Any]) -> Arrays:
    """In float64: outputs and the move of each W after the steps that are compared, and the way's length at the end."""
    start = [W.astype(np.float64) for W in begun]
    A = X.astype(np.float64)
    for W in early[:-1]:
        A = np.maximum(A @ W.astype(np.float64).T, 0.0)
    f = output_factor(X.shape[1], len(begun[0])) * A @ early[-1].astype(np.float64).T
    moves = {f"W{layer}": W - W0 for layer, (W, W0) in enumerate(zip(early, start, strict=True), 1)}
    square = sum(float(np.sum((W - W0) ** 2)) for W, W0 in zip(last, start, strict=True))
    return {"f": f, **moves, "moved": np.array(square**0.5)}
