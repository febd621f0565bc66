"""How far the network is from the kernel flow of infinite width, started where the network starts. MATH §5, §6.

With K the limit of the tangent kernel, K/n = V diag(λ) Vᵀ over the training inputs and c = Vᵀ(y − αf_0(X)),

    g_t(X) = αf_0(X) + V(1 − ρ)c,   g_t(x) = αf_0(x) + K(x, X) V ((1 − ρ)/(nλ)) c,   ρ_i = (1 − ηλ_i)^t or e^{−λ_i t}:

the first ρ for t steps of size η of a full-batch descent of constant step, the second for time t of any other flow. The
root mean square of αf_t − g_t over training and test inputs tends to 0 with the width in NTK scaling. Modes with
λ ≤ n·eps·λ_max count as 0 and never move. A kernel descent that diverges (η > 2/λ_max) is recorded as infinitely far
once it overflows.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.observables.observable import Observable
from simlab.observables.view import ANY_DIM, Setting, View
from simlab.record.schema import RECORD, Output

Floats = NDArray[np.float64]


class Modes(NamedTuple):
    """The k modes that move, over n training and p test inputs.

    rates: λ > 0, (k,).
    train: V at the training inputs, (n, k).
    test: K(x, X)V/(nλ) at the test inputs, (p, k).
    parts: c, (k,).
    start: αf_0 at the training inputs, (n,).
    start_test: αf_0 at the test inputs, (p,).
    """

    rates: Floats
    train: Floats
    test: Floats
    parts: Floats
    start: Floats
    start_test: Floats


def _modes(view: View) -> Modes:
    """The modes of the kernel flow that starts where the network started."""
    n, limit = len(view.y), view.network.limit_kernel(view.dim)
    rates, V = np.linalg.eigh(limit.gram(view.X) / n)
    moving = rates > n * np.finfo(np.float64).eps * rates[-1]
    rates, V = rates[moving], V[:, moving]
    start, start_test = (view.predict(X, view.theta0) for X in (view.X, view.X_test))
    return Modes(
        rates, V, limit.gram(view.X_test, view.X) @ (V / (n * rates)), V.T @ (view.y - start), start, start_test
    )


def _learned_share(rates: Floats, time: float, step: int, step_size: float | None) -> Floats:
    """1 − ρ (k,), the share of the way to the labels that each mode has gone.

    rates: λ, (k,).
    time, step, step_size: as in `View`.

    expm1 and log1p keep the digits of slow modes, for which ρ is near 1.
    """
    if step_size is None:
        return np.asarray(-np.expm1(-rates * time))
    x = step_size * rates
    slow = x < 0.5
    return np.asarray(np.where(slow, -np.expm1(step * np.log1p(-np.where(slow, x, 0.0))), 1.0 - (1.0 - x) ** step))


def _root_mean_square(values: Floats) -> float:
    """(mean of squares)^{1/2}; ∞ where the values overflowed."""
    size = float(np.sqrt(np.mean(values**2)))
    return size if np.isfinite(size) else float("inf")


class KernelDistance(Observable):
    """Distance of predictions from the kernel flow of infinite width, and the loss of that flow."""

    needs_test: ClassVar[bool] = True
    needs_descent: ClassVar[bool] = True

    def check(self, setting: Setting) -> None:
        if min(setting.samples, setting.test_samples) < 1:
            key = "samples" if setting.samples < 1 else "test_samples"
            raise ValueError(f"{key} = 0: the observable kernel_distance compares predictions there; give some")
        try:
            setting.network.limit_kernel(ANY_DIM)
        except ValueError as error:
            raise ValueError(f"observables kernel_distance with {error}") from None

    def outputs(self) -> dict[str, Output]:
        where = {"train": "training", "test": "test"}
        found = {
            f"kernel_{name}_distance": Output(f"root mean square of αf_t − g_t over the {text} inputs", (RECORD,))
            for name, text in where.items()
        }
        return found | {
            f"kernel_{name}_loss": Output(f"{text} loss of the kernel flow g_t", (RECORD,))
            for name, text in where.items()
        }

    def measure(self, view: View) -> dict[str, float]:
        modes = view.cached("kernel_distance", lambda: _modes(view))
        with np.errstate(over="ignore", invalid="ignore"):
            moved = _learned_share(modes.rates, view.time, view.step, view.step_size) * modes.parts
            train, test = modes.start + modes.train @ moved, modes.start_test + modes.test @ moved
            return {
                "kernel_train_distance": _root_mean_square(view.predict(view.X) - train),
                "kernel_test_distance": _root_mean_square(view.predict(view.X_test) - test),
                "kernel_train_loss": 0.5 * _root_mean_square(train - view.y) ** 2,
                "kernel_test_loss": 0.5 * _root_mean_square(test - view.y_test) ** 2,
            }
