"""Kernel gradient flow on samples, in closed form and integrated, on its way to the interpolant. [S1 §5.1], MATH §5.

    ḟ_t = −(1/n) K(·,X)(f_t(X) − y),      f_∞ = f_0 + K(·,X) K^{-1}(y − f_0(X))

f_0 = 0, or a random net where a network is given. f_∞ is solved for directly. For a singular K it is the least-squares
solution of least norm, and the flow does not reach y. Recorded times are 0 and log-spaced from `first_time` to
`last_time`. Integration begins anew at every recorded time with the residual left there, so that stopping changes no
bit. Losses are (1/2n)Σ(f − y)².

Streams: ``data`` and ``test`` (inputs), ``target``, ``init``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.parsing import MOST_ENTRIES
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.data.law import Law
from simlab.data.splits import draw
from simlab.experiments.experiment import Columns, Experiment, working_time
from simlab.kernels.kernel import Kernel
from simlab.machines.dense import solve
from simlab.machines.kernel_flow import KernelFlow as Machine
from simlab.networks.mlp import MLP
from simlab.record.schema import RECORD, Output
from simlab.targets.target import Target

Floats = NDArray[np.float64]


@dataclass
class Work:
    """What can be derived again; training inputs stand before the test inputs.

    X: inputs, (n + tests, d).
    K: kernel between all inputs and the training inputs, (n + tests, n).
    y: values of the target.
    initial: f_0.
    limit: f_∞.
    times: recorded times.
    closed: the flow in closed form.
    """

    X: Floats
    K: Floats
    y: Floats
    initial: Floats
    limit: Floats
    times: Floats
    closed: Machine


@dataclass
class Integrated(State):
    """Where the integration stands.

    recorded: number of records made.
    alpha: coefficients α of f_t = f_0 + Σ_i α_i K(·, x_i) at the time recorded last, (n,).
    """

    recorded: int
    alpha: Floats


class KernelFlow(Experiment):
    """Losses and distances along kernel gradient flow."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "kernel_flow", "samples": 6, "test_samples": 3, "records": 8, "last_time": 100.0},
            "data": {"kind": "uniform_sphere", "dim": 4},
            "target": {"kind": "relu_teacher"},
            "kernel": {"kind": "ntk", "depth": 3},
            "network": {"kind": "mlp", "depth": 3, "width": 5},
        },
    )

    samples: int = Field(ge=1, description="number n of training samples")
    test_samples: int = Field(100, ge=1, description="number of test samples")
    records: int = Field(
        41, ge=2, le=MOST_ENTRIES, description="how many instants to record, 0 and the last among them"
    )
    first_time: float = Field(1e-2, gt=0, description="the first time after 0")
    last_time: float = Field(1e4, gt=0, description="the last time")
    method: Literal["Radau", "DOP853", "RK45"] = Field("Radau", description="how to integrate")
    rtol: float = Field(1e-9, ge=1e-13, lt=1, description="relative tolerance of the integration")
    data: Law = Field(description="law of the inputs")
    target: Target = Field(description="the function to be learned")
    kernel: Kernel = Field(description="the kernel")
    network: MLP | None = Field(None, description="f_0 as drawn; left out: f_0 = 0")

    @model_validator(mode="after")
    def _times_in_order(self) -> Self:
        self.target.check_scalar()
        if self.first_time >= self.last_time:
            raise ValueError(f"first_time = {self.first_time}: must be below last_time = {self.last_time}")
        if self.network is not None and self.network.outputs != 1:
            raise ValueError(f"network.outputs = {self.network.outputs}: f_0 has 1")
        return self

    def outputs(self) -> dict[str, Output]:
        def trajectory(text: str) -> Output:
            return Output(text, (RECORD,))

        return {
            "step": Output("number of recorded times before this one", (RECORD,), dtype="int64"),
            "time": trajectory("time t of the flow"),
            "train_loss": trajectory("training loss, closed form"),
            "test_loss": trajectory("test loss, closed form"),
            "train_loss_integrated": trajectory("training loss, integrated"),
            "test_loss_integrated": trajectory("test loss, integrated"),
            "train_distance": trajectory("root mean square of f_t − f_∞ over the training inputs, closed form"),
            "test_distance": trajectory("root mean square of f_t − f_∞ over the test inputs, closed form"),
            "methods_apart": trajectory("largest difference of closed form and integration over all inputs"),
            "limit_train_loss": Output("training loss of f_∞: 0 up to rounding unless K is singular"),
            "limit_test_loss": Output("test loss of f_∞"),
            "smallest_rate": Output("smallest eigenvalue of K/n, the rate of the slowest mode"),
        }

    def prepare(self, streams: Streams) -> Work:
        n, dim = self.samples, self.data.dimension()
        inputs = draw(self.data, {"data": n, "test": self.test_samples}, streams)
        X = np.concatenate([inputs["data"], inputs["test"]])
        y = self.target.draw(dim, streams["target"])(X)
        initial = np.zeros(len(X))
        if self.network is not None:
            theta = self.network.initialise(dim, streams["init"])
            initial = self.network.features(theta, X) @ self.network.layers(theta, dim)[-1][0]
        K = self.kernel.gram(X, X[:n], threads=1)
        K[:n] = self.kernel.gram(X[:n], threads=1)  # symmetric to the bit
        limit = initial + K @ solve(K[:n], (y - initial)[:n], 0.0).coefficients
        times = np.append(0.0, np.geomspace(self.first_time, self.last_time, self.records - 1))
        closed = Machine(self.kernel).fit(X[:n], y[:n], initial[:n])
        return Work(X, K, y, initial, limit, times, closed)

    def start(self, work: Work, streams: Streams) -> Integrated:
        return Integrated(0, np.zeros(self.samples))

    def restore(self, arrays: Mapping[str, Any]) -> Integrated:
        return Integrated.of(arrays)

    def advance(self, work: Work, state: Integrated) -> Columns:
        rows: dict[str, Any] = {name: [] for name, output in self.outputs().items() if output.is_trajectory}
        for _ in working_time():
            self._integrate(work, state)
            for name, value in self._measured(work, state).items():
                rows[name].append(value)
            state.recorded += 1
            if self.finished(state):
                break
        return self.to_columns(rows | (self._once(work) if self.finished(state) else {}))

    def _integrate(self, work: Work, state: Integrated) -> None:
        """α from the time recorded last to the next: a flow of its own that starts from the residual left."""
        k, n = state.recorded, self.samples
        if k > 0:
            flow = Machine(self.kernel, method=self.method, rtol=self.rtol)
            now = work.initial[:n] + work.K[:n] @ state.alpha
            moved = flow.fit(work.X[:n], work.y[:n], now).coefficients(work.times[k] - work.times[k - 1])
            state.alpha += moved[0]

    def _measured(self, work: Work, state: Integrated) -> dict[str, Any]:
        k, n = state.recorded, self.samples
        closed = work.initial + work.K @ work.closed.coefficients(work.times[k])[0]
        integrated = work.initial + work.K @ state.alpha
        away = closed - work.limit
        return {
            "step": k,
            "time": work.times[k],
            "train_loss": _loss((closed - work.y)[:n]),
            "test_loss": _loss((closed - work.y)[n:]),
            "train_loss_integrated": _loss((integrated - work.y)[:n]),
            "test_loss_integrated": _loss((integrated - work.y)[n:]),
            "train_distance": np.sqrt(np.mean(away[:n] ** 2)),
            "test_distance": np.sqrt(np.mean(away[n:] ** 2)),
            "methods_apart": np.max(np.abs(closed - integrated)),
        }

    def _once(self, work: Work) -> dict[str, float]:
        n = self.samples
        rest = work.limit - work.y
        return {
            "limit_train_loss": _loss(rest[:n]),
            "limit_test_loss": _loss(rest[n:]),
            "smallest_rate": np.linalg.eigvalsh(work.K[:n])[0] / n,
        }

    def finished(self, state: Integrated) -> bool:
        return state.recorded == self.records

    def progress(self, state: Integrated) -> tuple[float, float]:
        return state.recorded, self.records

    def cost(self) -> tuple[float, float]:
        """About twenty implicit steps per record, a factorisation in one of five; 8 bytes per recorded number."""
        n = self.samples
        return self.records * (4.0 * n**3 + 200.0 * n**2) + 20.0 * n**3, 8.0 * 9 * self.records

    def memory(self) -> float:
        """The Gram matrix and its factor."""
        return 16.0 * self.samples**2


def _loss(residual: Floats) -> float:
    return float(0.5 * np.mean(residual**2))
