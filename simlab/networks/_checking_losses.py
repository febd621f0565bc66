"""The gradient of a network for every loss, as a part of `simlab.networks.check`.

R = (1/n) Σ_i ℓ(α f(x_i), y_i) and ∇R = (α/n) Σ_i J_iᵀ ℓ'(α f(x_i), y_i) at α = 1 and 3, with f of `forward`, its
Jacobian J by central differences, and ℓ and ℓ' of the loss's own `value` and `slope`. The network is not compiled again
for a loss, which its loops take as an argument.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simlab.core import catalogue
from simlab.core.checking import ensure
from simlab.core.parsing import choose
from simlab.losses.loss import Loss
from simlab.networks._checking import DIFFERENCES, DIM, ROWS, SINGLE, check_same, differences, inputs, start_weights
from simlab.networks.bound import Bound
from simlab.networks.network import Trainable

Floats = NDArray[np.float64]


def check_losses(network: Trainable) -> None:
    """R and ∇R of every loss that fits the number of outputs, in float64 and float32."""
    # Numbers that float32 has too, so that both compute at the same place.
    theta, X = (a.astype(np.float32).astype(np.float64) for a in (start_weights(network), inputs(ROWS)))
    f = network.forward(theta, X).reshape(ROWS, -1)
    J = differences(network, theta, X)
    single = Bound(network, DIM, np.float32)
    for loss in _losses():
        y = _labels(loss, f.shape[1])
        if y is None:
            continue
        for alpha in (1.0, 3.0):
            name = f"{network!r} with loss {loss!r} and alpha = {alpha}"
            value, slope = loss.value(alpha * f, y).mean(), loss.slope(alpha * f, y)
            wanted, scale = (
                np.einsum("ic,ick->k", *factors) * (alpha / ROWS) for factors in ((slope, J), (abs(slope), abs(J)))
            )
            found, gradient = network.loss_and_gradient(theta, X, y, alpha, loss)
            # A margin may be a difference of near numbers, as in 1 − yαf: rounding of f counts in full.
            spread = value + float(np.mean(np.sum(abs(slope * alpha * f), axis=1)))
            check_same(found, value, f"{name}: loss_and_gradient's loss and the mean of loss.value", scale=spread)
            says = f"{name}: gradient and central differences"
            check_same(gradient, wanted, says, DIFFERENCES, scale.max())
            same = np.array_equal(network.gradient(theta, X, y, alpha, loss), gradient)
            ensure(same, f"{name}: gradient is not that of loss_and_gradient")
            near, near_gradient = single.loss_and_gradient(theta, X, y, alpha, loss)
            check_same(near, value, f"{name}: the loss in float32 and float64", SINGLE, spread)
            bends = abs(slope) + alpha * abs(f).max()  # so far may a slope be off, in units of float32's rounding
            scale = np.einsum("ic,ick->k", bends, abs(J)) * (alpha / ROWS)
            check_same(near_gradient, gradient, f"{name}: the gradient in float32 and float64", SINGLE, scale.max())


def _losses() -> Iterator[Loss]:
    """Every kind of loss, as its first example has it."""
    seen = set[str]()
    for kind, table in catalogue.all_examples("losses"):
        if kind not in seen:
            seen.add(kind)
            yield choose("losses", {"kind": kind, **table}, "loss")


def _labels(loss: Loss, outputs: int) -> Floats | None:
    """Random labels y : (ROWS, outputs); None where the loss needs more outputs."""
    rng = np.random.default_rng(6)
    if loss.labels == "real":
        return rng.standard_normal((ROWS, outputs))
    if loss.labels == "signs":
        return rng.choice([-1.0, 1.0], (ROWS, outputs))
    return np.eye(outputs)[rng.integers(outputs, size=ROWS)] if outputs > 1 else None
