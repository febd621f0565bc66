"""A random network as the target: f(x) = f_θ(x), θ as the network starts. Any kind with `initialise` and `forward`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of

Floats = NDArray[np.float64]


class Params(Base):
    network: Annotated[Base, Room("networks")] = Field(description="the network, of one output")
    scale: float = Field(1.0, gt=0, description="factor of its output")

    @field_validator("network")
    @classmethod
    def _has_a_value(cls, value: Base) -> Base:
        module = module_of(value)
        if not (hasattr(module, "initialise") and hasattr(module, "forward")):
            raise ValueError(f"{kind_of(value)} cannot be a teacher: it has no output of its own")
        if (outputs := getattr(value, "outputs", 1)) != 1:
            raise ValueError(f"outputs = {outputs}: a teacher has 1")
        return value


EXAMPLES: tuple[dict[str, Any], ...] = (
    {"network": {"kind": "two_layer", "width": 5}},
    {"network": {"kind": "mlp", "width": 8, "depth": 3}},
)


def draw(params: Params, dim: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    module = module_of(params.network)
    dim = checks.draw_from(dim, rng)
    theta = module.initialise(params.network, dim, rng)

    def target(X: Floats) -> Floats:
        X = checks.matrix(X, dim=dim)
        return params.scale * np.asarray(module.forward(params.network, theta, X)).reshape(len(X))

    return target
