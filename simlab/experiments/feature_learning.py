"""A flow of a network beside kernel ridge regression on the same samples: what learned features are worth. MATH §5–7.

The network and its flow are those of `gradient_flow`. The kernel is fitted to the same (X, y) at every ridge, and its
error E (f − f*)² is that over the same test inputs; to speak of the best ridge is then to choose it in hindsight, which
favours the kernel. Errors are mean squares: twice the losses. Streams: as in `gradient_flow`.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import shown
from simlab.core.params import AsTuple, Room
from simlab.core.rng import Streams
from simlab.experiments import gradient_flow
from simlab.kernels.kernel import Kernel
from simlab.machines import dense
from simlab.record.schema import Output
from simlab.record.segments import State

Floats = NDArray[np.float64]


class Params(gradient_flow.Params):
    test_samples: int = Field(1000, ge=2, description="number of test samples")
    ridges: Annotated[tuple[Annotated[float, Field(ge=0)], ...], AsTuple] = Field(
        (1e-3, 1e-1, 1.0, 10.0), min_length=1, description="ridges λ of the kernel, each once"
    )
    kernel: Annotated[Kernel, Room("kernels")]

    @model_validator(mode="after")
    def _each_ridge_once(self) -> Params:
        if len(set(self.ridges)) < len(self.ridges):
            raise ValueError(f"ridges = {shown(list(self.ridges))}: each may be named once")
        return self


EXAMPLES = (
    {
        "experiment": {"kind": "feature_learning", "samples": 12, "test_samples": 5, "records": 6},
        "data": {"kind": "uniform_sphere", "dim": 4},
        "target": {"kind": "neuron"},
        "network": {"kind": "two_layer", "width": 4, "scaling": "none", "init_std": 0.1},
        "flow": {"kind": "gradient_descent", "steps": 50, "step": 0.1},
        "kernel": {"kind": "ntk", "depth": 2},
    },
)


def outputs(params: Params) -> dict[str, Output]:
    return gradient_flow.outputs(params) | {
        "kernel_error": Output(
            "mean square error of kernel ridge regression on the test data",
            ("ridge",),
            coords={"ridge": np.array(params.ridges)},
        ),
        "target_variance": Output("variance of the target over the test data"),
    }


def prepare(params: Params, streams: Streams) -> gradient_flow.Work:
    return gradient_flow.prepare(params, streams)


def start(params: Params, work: gradient_flow.Work, streams: Streams) -> State:
    return gradient_flow.start(params, work, streams)


def advance(params: Params, work: gradient_flow.Work, state: State) -> dict[str, NDArray[Any]]:
    columns = gradient_flow.advance(params, work, state)
    return columns | _kernel_ridge(params, work) if finished(params, state) else columns


def _kernel_ridge(params: Params, work: gradient_flow.Work) -> dict[str, NDArray[Any]]:
    K, across = params.kernel.gram(work.X, threads=1), params.kernel.gram(work.X_test, work.X, threads=1)
    alpha = np.stack([dense.solve(K, work.y, ridge).coefficients for ridge in params.ridges], axis=1)
    errors = np.mean((across @ alpha - work.y_test[:, np.newaxis]) ** 2, axis=0)
    return {"kernel_error": errors, "target_variance": np.asarray(np.var(work.y_test))}


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def progress(params: Params, state: State) -> tuple[float, float]:
    return gradient_flow.progress(params, state)


def cost(params: Params) -> tuple[float, float]:
    """That of the flow, a factorisation a ridge and 20 flops an entry of the Gram matrices."""
    flops, nbytes = gradient_flow.cost(params)
    n = params.samples
    return flops + len(params.ridges) * n**3 / 3 + 20.0 * n * (n + params.test_samples), nbytes + 8.0 * 5


def memory(params: Params) -> float:
    """That of the flow, and a Gram matrix."""
    return gradient_flow.memory(params) + 8.0 * params.samples**2
