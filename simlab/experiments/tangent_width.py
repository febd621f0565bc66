"""The tangent kernel of random nets of one width against that of infinite width. [S1 §5], MATH §6.

K̂ = J Jᵀ of `draws` independent nets at `points` fixed inputs, Θ its limit (`simlab.networks.limit`: any depth and
activation, the layers that are trained). For every net the root mean square and the largest of |K̂ − Θ| over pairs, and
‖K̂ − Θ‖/‖Θ‖ in the Frobenius norm, all ~ m^(−1/2); over the nets the largest distance of the mean K̂ from Θ in standard
errors: no bias beyond them for one hidden layer, one of ~ 1/m for more.

A `bottleneck` of the net is ignored in the limit: such a net does not tend to it however wide the rest, a control.
Streams: ``data`` (inputs), ``init`` (nets, one after another).
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import lookup
from simlab.core.errors import SimlabError, one_of
from simlab.core.params import MOST_ENTRIES, Room, kind_of, module_of
from simlab.core.params import Params as Base
from simlab.core.rng import Streams
from simlab.record.schema import Output
from simlab.record.segments import State

Floats = NDArray[np.float64]
ADVANCE_SECONDS = 0.5


class Params(Base):
    draws: int = Field(ge=2, le=MOST_ENTRIES, description="number of independent nets")
    points: int = Field(10, ge=1, description="number of fixed inputs")
    data: Annotated[Base, Room("data")]
    network: Annotated[Base, Room("networks")]

    @model_validator(mode="after")
    def _has_a_limit(self) -> Params:
        if not hasattr(module_of(self.network), "tangent_gram"):
            able = [kind for kind in lookup.kinds("networks") if hasattr(lookup.get("networks", kind), "tangent_gram")]
            raise ValueError(
                f"network.kind = {kind_of(self.network)!r}: it has no tangent kernel (allowed: {one_of(able)})"
            )
        if getattr(self.network, "outputs", 1) != 1:
            raise ValueError(f"network.outputs = {self.network.outputs}: must be 1")  # type: ignore[attr-defined]
        self.network.widened().limit_kernel(module_of(self.data).dimension(self.data))
        return self


EXAMPLES = (
    {
        "experiment": {"kind": "tangent_width", "draws": 20, "points": 3},
        "data": {"kind": "uniform_sphere", "dim": 3},
        "network": {"kind": "two_layer", "width": 8},
    },
)


def _widened(network: Base) -> Base:
    return network.model_copy(update={"bottleneck": None}) if hasattr(network, "bottleneck") else network


def outputs(params: Params) -> dict[str, Output]:
    draw = {"draw": np.arange(params.draws)}
    return {
        "rms_error": Output("root mean square of K̂ − Θ over pairs of inputs, by net", ("draw",), coords=draw),
        "sup_error": Output("largest |K̂ − Θ| over pairs of inputs, by net", ("draw",), coords=draw),
        "relative_error": Output("‖K̂ − Θ‖/‖Θ‖ in the Frobenius norm, by net", ("draw",), coords=draw),
        "entry_error": Output("root mean square of K̂ − Θ over nets and pairs"),
        "frobenius_error": Output("mean of ‖K̂ − Θ‖/‖Θ‖ over nets"),
        "mean_error": Output("root mean square over pairs of the mean of K̂ over the nets, less Θ"),
        "mean_z": Output("largest |mean K̂ − Θ| over pairs in standard errors"),
    }


def prepare(params: Params, streams: Streams) -> tuple[Floats, Floats]:
    """The inputs X and Θ(X, X)."""
    X = module_of(params.data).sample(params.data, params.points, streams["data"])
    Theta = params.network.widened().limit_kernel(X.shape[1]).gram(X)
    if not np.any(Theta):
        raise SimlabError("the limit of the tangent kernel is 0 at these inputs: nothing to compare with")
    return X, Theta


def start(params: Params, work: tuple[Floats, Floats], streams: Streams) -> State:
    return {"drawn": 0, "grams": np.zeros((params.draws, params.points, params.points)), "rng": streams["init"]}


def advance(params: Params, work: tuple[Floats, Floats], state: State) -> dict[str, NDArray[Any]]:
    X, Theta = work
    module = module_of(params.network)
    deadline = time.monotonic() + ADVANCE_SECONDS
    while not finished(params, state):
        theta = module.initialise(params.network, X.shape[1], state["rng"])
        state["grams"][state["drawn"]] = module.tangent_gram(params.network, theta, X)
        state["drawn"] += 1
        if time.monotonic() >= deadline:
            break
    return _summary(Theta, state["grams"]) if finished(params, state) else {}


def _summary(Theta: Floats, grams: Floats) -> dict[str, NDArray[Any]]:
    apart = grams - Theta
    rms = np.sqrt(np.mean(apart**2, axis=(1, 2)))
    mean, error = apart.mean(axis=0), grams.std(axis=0, ddof=1) / len(grams) ** 0.5
    # An entry that never varies (a linear net's, say) counts where it is wrong beyond rounding.
    z = np.abs(mean) / np.maximum(error, 1e-12 * np.abs(Theta).max())
    return {
        "rms_error": rms,
        "sup_error": np.max(np.abs(apart), axis=(1, 2)),
        "relative_error": rms / np.sqrt(np.mean(Theta**2)),
        "entry_error": np.asarray(np.sqrt(np.mean(apart**2))),
        "frobenius_error": np.asarray(np.mean(rms) / np.sqrt(np.mean(Theta**2))),
        "mean_error": np.asarray(np.sqrt(np.mean(mean**2))),
        "mean_z": np.asarray(z.max()),
    }


def finished(params: Params, state: State) -> bool:
    return bool(state["drawn"] == params.draws)


def progress(params: Params, state: State) -> tuple[int, int]:
    return state["drawn"], params.draws


def cost(params: Params) -> tuple[float, float]:
    """About 40 flops to draw a weight, 6 a point to push it back and forth; eight bytes a recorded number."""
    dim = module_of(params.data).dimension(params.data)
    size = module_of(params.network).loops(params.network, dim).size
    return params.draws * size * (40.0 + 6 * params.points), 8.0 * (3 * params.draws + 4)


def memory(params: Params) -> float:
    """The weights of one draw and the Gram matrices of all."""
    dim = module_of(params.data).dimension(params.data)
    weights = module_of(params.network).loops(params.network, dim).size
    return float(8 * (weights + params.draws * params.points**2))
