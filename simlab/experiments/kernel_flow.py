"""Kernel gradient flow on samples, in closed form and integrated, on its way to the interpolant. [S1 §5.1], MATH §5.

    ḟ_t = −(1/n) K(·,X)(f_t(X) − y),      f_∞ = f_0 + K(·,X) K^{-1}(y − f_0(X))

f_0 = 0, or a random net where a network is given. f_∞ is solved for directly (for a singular K: least squares of least
norm, and the flow does not reach y). Times are 0 and log-spaced from `first_time` to `last_time`; integration begins
anew at every recorded time with the residual left there, so that stopping changes no bit.

Streams: ``data`` and ``test`` (inputs), ``target``, ``init``. Losses are (1/2n)Σ(f − y)².
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.params import MOST_ENTRIES, Room, module_of
from simlab.core.params import Params as Base
from simlab.core.rng import Streams
from simlab.data.splits import draw
from simlab.kernels.kernel import Kernel
from simlab.machines.dense import solve
from simlab.machines.kernel_flow import KernelFlow
from simlab.networks import mlp
from simlab.record.schema import RECORD, Output
from simlab.record.segments import State

Floats = NDArray[np.float64]
ADVANCE_SECONDS = 0.5


class Params(Base):
    samples: int = Field(ge=1, description="number n of training samples")
    test_samples: int = Field(100, ge=1, description="number of test samples")
    records: int = Field(
        41, ge=2, le=MOST_ENTRIES, description="how many instants to record, 0 and the last among them"
    )
    first_time: float = Field(1e-2, gt=0, description="the first time after 0")
    last_time: float = Field(1e4, gt=0, description="the last time")
    method: Literal["Radau", "DOP853", "RK45"] = Field("Radau", description="how to integrate")
    rtol: float = Field(1e-9, ge=1e-13, lt=1, description="relative tolerance of the integration")
    data: Annotated[Base, Room("data")]
    target: Annotated[Base, Room("targets")]
    kernel: Annotated[Kernel, Room("kernels")]
    network: Annotated[mlp.Params | None, Room("networks")] = Field(None, description="f_0 as drawn; left out: f_0 = 0")

    @model_validator(mode="after")
    def _times_in_order(self) -> Params:
        self.target.check_scalar()
        if self.first_time >= self.last_time:
            raise ValueError(f"first_time = {self.first_time}: must be below last_time = {self.last_time}")
        if self.network is not None and self.network.outputs != 1:
            raise ValueError(f"network.outputs = {self.network.outputs}: f_0 has 1")
        return self


EXAMPLES = (
    {
        "experiment": {"kind": "kernel_flow", "samples": 6, "test_samples": 3, "records": 8, "last_time": 100.0},
        "data": {"kind": "uniform_sphere", "dim": 4},
        "target": {"kind": "relu_teacher"},
        "kernel": {"kind": "ntk", "depth": 3},
        "network": {"kind": "mlp", "depth": 3, "width": 5},
    },
)


@dataclass
class Work:
    """Training inputs before test inputs in K (n + tests, n), `y`, `initial` (f_0) and `limit` (f_∞)."""

    X: Floats
    K: Floats
    y: Floats
    initial: Floats
    limit: Floats
    times: Floats
    closed: KernelFlow


def outputs(params: Params) -> dict[str, Output]:
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


def prepare(params: Params, streams: Streams) -> Work:
    n, dim = params.samples, module_of(params.data).dimension(params.data)
    inputs = draw(params.data, {"data": n, "test": params.test_samples}, streams)
    X = np.concatenate([inputs["data"], inputs["test"]])
    y = module_of(params.target).draw(params.target, dim, streams["target"])(X)
    initial = np.zeros(len(X))
    if params.network is not None:
        theta = mlp.initialise(params.network, dim, streams["init"])
        initial = mlp.hidden(params.network, theta, X) @ mlp.layers(params.network, theta, dim)[-1][0]
    K = params.kernel.gram(X, X[:n], threads=1)
    K[:n] = params.kernel.gram(X[:n], threads=1)  # symmetric to the bit
    limit = initial + K @ solve(K[:n], (y - initial)[:n], 0.0).coefficients
    times = np.append(0.0, np.geomspace(params.first_time, params.last_time, params.records - 1))
    closed = KernelFlow(params.kernel).fit(X[:n], y[:n], initial[:n])
    return Work(X, K, y, initial, limit, times, closed)


def start(params: Params, work: Work, streams: Streams) -> State:
    return {"recorded": 0, "alpha": np.zeros(params.samples)}


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    declared = outputs(params)
    rows: dict[str, list[Any]] = {name: [] for name, output in declared.items() if output.is_trajectory}
    deadline = time.monotonic() + ADVANCE_SECONDS
    while not finished(params, state):
        _integrate(params, work, state)
        for name, value in _measured(params, work, state).items():
            rows[name].append(value)
        state["recorded"] += 1
        if time.monotonic() >= deadline:
            break
    columns = {name: np.array(values, declared[name].dtype) for name, values in rows.items()}
    return columns | (_once(params, work) if finished(params, state) else {})


def _integrate(params: Params, work: Work, state: State) -> None:
    """α from the time recorded last to the next: a flow of its own that starts from the residual left."""
    k, n = state["recorded"], params.samples
    if k > 0:
        flow = KernelFlow(params.kernel, method=params.method, rtol=params.rtol)
        now = work.initial[:n] + work.K[:n] @ state["alpha"]
        moved = flow.fit(work.X[:n], work.y[:n], now).coefficients(work.times[k] - work.times[k - 1])
        state["alpha"] += moved[0]


def _measured(params: Params, work: Work, state: State) -> dict[str, Any]:
    k, n = state["recorded"], params.samples
    closed = work.initial + work.K @ work.closed.coefficients(work.times[k])[0]
    integrated = work.initial + work.K @ state["alpha"]
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


def _once(params: Params, work: Work) -> dict[str, NDArray[Any]]:
    n = params.samples
    rest = work.limit - work.y
    found = {
        "limit_train_loss": _loss(rest[:n]),
        "limit_test_loss": _loss(rest[n:]),
        "smallest_rate": np.linalg.eigvalsh(work.K[:n])[0] / n,
    }
    return {name: np.asarray(value, dtype=np.float64) for name, value in found.items()}


def _loss(residual: Floats) -> float:
    return float(0.5 * np.mean(residual**2))


def finished(params: Params, state: State) -> bool:
    return bool(state["recorded"] == params.records)


def progress(params: Params, state: State) -> tuple[int, int]:
    return state["recorded"], params.records


def cost(params: Params) -> tuple[float, float]:
    """About twenty implicit steps a record, a factorisation in one of five of them; eight bytes a recorded number."""
    n = params.samples
    return params.records * (4.0 * n**3 + 200.0 * n**2) + 20.0 * n**3, 8.0 * 9 * params.records


def memory(params: Params) -> float:
    """The Gram matrix and its factor."""
    return 16.0 * params.samples**2
