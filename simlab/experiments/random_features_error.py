"""How far m random features are from the kernel they tend to, and what it costs in regression. [S1 §2], MATH §5.

K̂ = Φ Φᵀ of one draw of the feature map against its limit K, over all pairs of `points` inputs: sup and root mean square
of |K̂ − K|, both ~ m^(−1/2). K is the map's own `exact` where it has one, else the given kernel. With a target also
ridge regression on `samples` inputs with either, f = K(·,X)(K + λI)^{-1} y, and the risk E(f − f*)² of both over those
same points: that with features exceeds the least by at most a multiple of 1/√m + 1/√n (Rahimi–Recht).

Streams: ``test`` (points), ``data`` (training inputs), ``target``, ``features``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import lookup
from simlab.core.errors import one_of
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of
from simlab.core.rng import Streams
from simlab.data.splits import draw
from simlab.kernels.kernel import Kernel
from simlab.machines.dense import solve
from simlab.record.schema import Output
from simlab.record.segments import State

Floats = NDArray[np.float64]
BLOCK = 1 << 22  # numbers of Φ in memory at once: 32 MB


class Params(Base):
    points: int = Field(100, ge=2, description="number of inputs whose pairs are compared")
    samples: int = Field(0, ge=0, description="number n of training samples; 0: no regression")
    ridge: float = Field(0.0, ge=0, description="ridge λ of the regression")
    data: Annotated[Base, Room("data")]
    network: Annotated[Base, Room("networks")]
    kernel: Annotated[Kernel | None, Room("kernels")] = Field(
        None, description="the limit of a feature map that has no closed form of its own"
    )
    target: Annotated[Base | None, Room("targets")] = Field(None, description="what to learn; only with samples")

    @model_validator(mode="after")
    def _is_a_feature_map_with_a_limit(self) -> Params:
        if self.target is not None:
            self.target.check_scalar()
        kind, module = kind_of(self.network), module_of(self.network)
        if not hasattr(module, "features"):
            able = [name for name in lookup.kinds("networks") if hasattr(lookup.get("networks", name), "features")]
            raise ValueError(f"network.kind = {kind!r}: it is no feature map (allowed: {one_of(able)})")
        if self.kernel is None and not hasattr(module, "exact"):
            raise ValueError(
                f"kernel: missing; network.kind = {kind!r} needs a [kernel] table, the limit of its features"
            )
        if (self.target is None) != (self.samples == 0):
            raise ValueError(f"samples = {self.samples}: regression needs both samples and a [target] table")
        return self


EXAMPLES = (
    {
        "experiment": {"kind": "random_features_error", "points": 5},
        "data": {"kind": "uniform_sphere", "dim": 3},
        "network": {"kind": "fourier_features", "width": 16},
    },
    {
        "experiment": {"kind": "random_features_error", "points": 5, "samples": 6, "ridge": 1e-3},
        "data": {"kind": "uniform_sphere", "dim": 3},
        "network": {"kind": "random_features", "width": 16},
        "kernel": {"kind": "nngp", "depth": 2},
        "target": {"kind": "relu_teacher"},
    },
)


@dataclass
class Work:
    """Training inputs before test inputs in X; `y` are the target's values at all of them."""

    X: Floats
    y: Floats | None
    weights: Any


def outputs(params: Params) -> dict[str, Output]:
    found = {
        "features": Output("number p of features", dtype="int64"),
        "sup_error": Output("largest |K̂ − K| over pairs of points"),
        "rms_error": Output("root mean square of K̂ − K over pairs of points"),
    }
    if params.target is not None:
        found["risk"] = Output("mean square error of regression with the features, over the points")
        found["kernel_risk"] = Output("the same with the kernel itself")
        found["prediction_error"] = Output("root mean square of the difference of the two predictions over the points")
    return found


def prepare(params: Params, streams: Streams) -> Work:
    dim = module_of(params.data).dimension(params.data)
    inputs = draw(params.data, {"data": params.samples, "test": params.points}, streams)
    X = np.concatenate([inputs["data"], inputs["test"]])
    y = None
    if params.target is not None:
        y = module_of(params.target).draw(params.target, dim, streams["target"])(X)
    return Work(X, y, module_of(params.network).draw(params.network, dim, streams["features"]))


def start(params: Params, work: Work, streams: Streams) -> State:
    return {"finished": False}


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    approximate, exact, n = _feature_gram(params, work), _limit(params, work.X), params.samples
    apart = np.abs(approximate - exact)[n:, n:]
    found: dict[str, Any] = {"sup_error": apart.max(), "rms_error": np.sqrt(np.mean(apart**2))}
    if work.y is not None:
        ours, theirs, truth = _predicted(params, approximate, work.y), _predicted(params, exact, work.y), work.y[n:]
        found |= {"risk": np.mean((ours - truth) ** 2), "kernel_risk": np.mean((theirs - truth) ** 2)}
        found["prediction_error"] = np.sqrt(np.mean((ours - theirs) ** 2))
    state["finished"] = True
    features = module_of(params.network).count(params.network, work.X.shape[1])
    return {"features": np.asarray(features), **{name: np.asarray(value) for name, value in found.items()}}


def _feature_gram(params: Params, work: Work) -> Floats:
    """Φ Φᵀ over all inputs, summed over blocks of features in order."""
    network = module_of(params.network)
    total, size = network.count(params.network, work.X.shape[1]), len(work.X)
    block = max(1, BLOCK // size)
    K = np.zeros((size, size))
    for begin in range(0, total, block):
        part = slice(begin, min(begin + block, total))
        Phi = network.features(params.network, work.weights, work.X, part)
        K += Phi @ Phi.T
    return K


def _limit(params: Params, X: Floats) -> Floats:
    network = module_of(params.network)
    if hasattr(network, "exact"):
        K: Floats = network.exact(params.network, X)
    else:
        assert params.kernel is not None  # validated
        K = params.kernel.gram(X, threads=1)
    return K


def _predicted(params: Params, K: Floats, y: Floats) -> Floats:
    """f at the points, of regression on the training inputs."""
    n = params.samples
    f: Floats = K[n:, :n] @ solve(K[:n, :n], y[:n], params.ridge).coefficients
    return f


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def cost(params: Params) -> tuple[float, float]:
    """The product Φ Φᵀ and the features themselves, two factorisations; eight bytes a recorded number."""
    dim = module_of(params.data).dimension(params.data)
    size, p = params.points + params.samples, module_of(params.network).count(params.network, dim)
    return 2.0 * size * p * (size + dim + 20) + params.samples**3, 8.0 * len(outputs(params))


def memory(params: Params) -> float:
    """The Gram matrix of all inputs."""
    return 8.0 * (params.points + params.samples) ** 2
