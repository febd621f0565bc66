"""The three-layer net of mean-field scaling with infinitely many neurons in its first layer: the α-flow. MATH §8.

Spherically symmetric neurons make the first layer α‖x‖. With r = ‖x‖, f(r) = (1/m₂) Σ_j σ(w_j α r + b_j), g the target:

    ẇ_j = E(g−f) σ'(w_jαr+b_j) αr,    ḃ_j = E(g−f) σ'(w_jαr+b_j),    α̇ = (4C_Γ/√d) E[S₂ r] α,
    S₂ = (g−f) (1/m₂) Σ_j σ'(w_jαr+b_j) w_j,

the time of particles (mean-field time). A neuron with w < 0 < b is on for r < r_j = b_j/(|w_j|α), one with b ≤ 0 is
dead. With the r_j in order f is linear between two of them, so that all expectations,

    G_k(r_j) = E(g−f) 1{r < r_j} r^k = T_k(r_j) − Σ (A ΔM_{k+1} + B ΔM_k) over the intervals below r_j,   f = A r + B,

are sums of cumulative moments (`_radial_moments`): ẇ_j = αG_1(r_j), ḃ_j = G_0(r_j), α̇ = (4C_Γ/√d)(α/m₂) Σ w_jG_1(r_j).
No samples, no quadrature while solving; an adaptive solver (DOP853) follows (log α, w, b).

w > 0 has infinite risk under the 1/r tail of ‖x‖, w = 0 with b > 0 an infinite velocity: both are refused. A neuron
that comes to w = 0 in finite time (a target that does not vanish far out pulls it there) ends the flow with an error.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.sphere.ball_law import BallLaw
from simlab.sphere.mean_relu import mean_relu
from simlab.targets.radial_function import Radial
from simlab.theory._radial_moments import Moments

Floats = NDArray[np.float64]
Trained = Literal["both", "first", "second"]
MOST_RADIUS = 1e12
"""Radii are cut there: in trial steps of the solver that go too far, and where w is −1e-12 b/α or nearer to 0."""


@dataclass(frozen=True)
class Accuracy:
    """How the flow is solved.

    rtol: relative error per step, 1e-13 or more.
    atol: absolute error per step.
    most: evaluations of the velocity at most.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    most: int = 100_000

    def __post_init__(self) -> None:
        checks.number(self.rtol, "rtol", least=1e-13, below=1)
        checks.number(self.atol, "atol", above=0)
        checks.whole(self.most, "most", least=1)


USUAL = Accuracy()


@dataclass(frozen=True)
class Course:
    """The flow at given times.

    times: (T,)
    alpha: α (T,)
    w, b: (T, m₂)
    loss: ½E(g−f)² (T,)
    """

    times: Floats
    alpha: Floats
    w: Floats
    b: Floats
    loss: Floats


class Rates:
    """The right-hand side, and the loss, for one law and target."""

    def __init__(self, law: BallLaw, target: Radial) -> None:
        checks.instance(law, "law", BallLaw, "the law of ‖x‖, such as data.BallFourier(dim=3).radius_law()")
        checks.instance(target, "target", Radial, "radial, such as a draw of targets.radial")
        self.moments = Moments(law, target)
        self.gain = 4.0 * mean_relu(law.dim)

    def _intervals(self, alpha: float, w: Floats, b: Floats) -> tuple[Any, Floats, Floats, Floats]:
        """Living neurons by increasing r_j, moments of the intervals that end there (6, k), and f = A r + B on them."""
        alive = np.flatnonzero(b > 0.0)
        slopes = alpha * w[alive]
        r = b[alive] / np.maximum(-slopes, b[alive] / MOST_RADIUS)
        order = np.argsort(r)
        alive, slopes = alive[order], slopes[order]
        moments = self.moments.at(r[order])
        moments[:, 1:] -= moments[:, :-1].copy()
        A = np.cumsum(slopes[::-1])[::-1] / w.size
        B = np.cumsum(b[alive][::-1])[::-1] / w.size
        return alive, moments, A, B

    def velocity(self, alpha: float, w: Floats, b: Floats) -> tuple[float, Floats, Floats]:
        """α̇/α, ẇ, ḃ"""
        alive, (M0, M1, M2, T0, T1, _), A, B = self._intervals(alpha, w, b)
        G1 = np.cumsum(T1 - A * M2 - B * M1)
        w_dot, b_dot = np.zeros_like(w), np.zeros_like(b)
        w_dot[alive] = alpha * G1
        b_dot[alive] = np.cumsum(T0 - A * M1 - B * M0)
        return self.gain * float(w[alive] @ G1) / w.size, w_dot, b_dot

    def loss(self, alpha: float, w: Floats, b: Floats) -> float:
        """½E(g−f)², interval by interval: rounding leaves 1e-16."""
        _, (M0, M1, M2, T0, T1, Q), A, B = self._intervals(alpha, w, b)
        inside = Q - 2.0 * (A * T1 + B * T0) + A * (A * M2 + 2.0 * B * M1) + B * B * M0
        outside = max(0.0, self.moments.total_square - float(Q.sum()))
        return 0.5 * max(0.0, float(inside.sum()) + outside)


@functools.lru_cache(maxsize=4)
def _rates(law: BallLaw, target: Radial) -> Rates:
    """Kept for flows that are followed from record to record, or from several starts."""
    return Rates(law, target)


def solve(
    law: BallLaw,
    target: Radial,
    alpha0: float,
    w: ArrayLike,
    b: ArrayLike,
    times: ArrayLike,
    trained: Trained = "both",
    accuracy: Accuracy = USUAL,
) -> Course:
    """The flow from (alpha0, w, b) at time 0, at the given times ≥ 0.

    law: of ‖x‖.
    target: g.
    alpha0: α at time 0, greater than 0.
    w, b: weights and biases of the outer layer at time 0 (m₂,), w < 0.
    times: when to record (T,), never decreasing.
    trained: which layers move.
    accuracy: tolerances of the solver, and the most evaluations that it may take.

    Far beyond the time in which it learns (10⁴ and more) the flow is stiff, and an explicit solver takes steps without
    end.
    """
    checks.choice(trained, "trained", get_args(Trained))
    checks.instance(accuracy, "accuracy", Accuracy, "an alpha_flow.Accuracy, such as Accuracy(rtol=1e-10)")
    rtol, atol, most = float(accuracy.rtol), float(accuracy.atol), accuracy.most
    at, w0, b0 = _checked(alpha0, w, b, times)
    alpha0, m = float(alpha0), w0.size
    rates = _rates(law, target) if isinstance(law, BallLaw) and isinstance(target, Radial) else Rates(law, target)
    first, second = trained in ("both", "first"), trained in ("both", "second")

    evaluations = itertools.count(1)

    def rate(t: float, state: Floats) -> Floats:
        if next(evaluations) > most:
            raise BadInput(f"times: the flow takes more than {most} evaluations to {instants[-1]:.6g}; end before")
        grows, w_dot, b_dot = rates.velocity(float(np.exp(state[0])), state[1 : m + 1], state[m + 1 :])
        return np.concatenate([[first * grows], second * w_dot, second * b_dot])

    start = np.concatenate([[np.log(alpha0)], w0, b0])
    instants, which = np.unique(at, return_inverse=True)
    states = start[np.newaxis].repeat(instants.size, axis=0)
    if instants[-1] > 0.0:
        with np.errstate(over="ignore", invalid="ignore"):  # a trial step that is not finite is made smaller
            done = solve_ivp(
                rate,
                (0.0, instants[-1]),
                start,
                "DOP853",
                t_eval=instants,
                events=_LargestWeight(m),
                rtol=rtol,
                atol=atol,
            )
        if done.status == 1:
            raise BadInput(
                f"w: a neuron comes to w = 0 at time {done.t_events[0][0]:.6g}, of infinite risk beyond: "
                "end before, or take a target that vanishes far out"
            )
        if done.status != 0 or not np.all(np.isfinite(done.y)):
            raise BadInput(f"alpha0 = {alpha0}: the flow has no solution up to {instants[-1]:.6g}: {done.message}")
        states = done.y.T
    states = states[which]
    alpha, W, B = np.exp(states[:, 0]), states[:, 1 : m + 1].copy(), states[:, m + 1 :].copy()
    loss = np.array([rates.loss(float(a), *rows) for a, *rows in zip(alpha, W, B, strict=True)])
    return Course(at, alpha, W, B, loss)


@dataclass(frozen=True)
class _LargestWeight:
    """An event of `solve_ivp`: max_j w_j, of the state (log α, w, b), becomes 0. The solver ends there.

    count: number m₂ of neurons.
    """

    count: int
    terminal: bool = True

    def __call__(self, t: float, state: Floats) -> float:
        return float(np.max(state[1 : self.count + 1]))


def _checked(alpha0: float, w: ArrayLike, b: ArrayLike, times: ArrayLike) -> tuple[Floats, Floats, Floats]:
    at, w0, b0 = (
        np.array(checks.array(values, name, ndim=1, empty=False))
        for name, values in (("times", times), ("w", w), ("b", b))
    )
    if w0.shape != b0.shape:
        raise BadInput(f"b: {b0.size} numbers; must be {w0.size}, one per neuron as w has")
    checks.number(alpha0, "alpha0", above=0)
    if np.any(w0 >= 0.0):
        raise BadInput(
            f"w = {w0[w0 >= 0.0][0]:g}: must be less than 0: others have infinite risk under the 1/r tail of ‖x‖"
        )
    if at[0] < 0.0 or np.any(np.diff(at) < 0.0):
        raise BadInput(f"times: from {at[0]:g} to {at[-1]:g}; must be 0 or greater and never decrease")
    return at, w0, b0
