"""A random network as the target: f(x) = s f_θ(x), θ a draw of the initial weights of any network of one output."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from simlab.core import checks
from simlab.networks.network import Network, Trainable
from simlab.targets.target import Floats, Function, Target


class Teacher(Target):
    """f(x) = s f_θ(x)."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"network": {"kind": "two_layer", "width": 5}},
        {"network": {"kind": "mlp", "width": 8, "depth": 3}},
    )

    network: Network = Field(description="the network, of one output")
    scale: float = Field(1.0, gt=0, description="factor of its output")

    @field_validator("network")
    @classmethod
    def _has_one_output(cls, value: Network) -> Network:
        if not isinstance(value, Trainable):
            raise ValueError(f"{value.kind} cannot be a teacher: it has no output of its own")
        if (outputs := value.output_count()) != 1:
            raise ValueError(f"outputs = {outputs}: a teacher has 1")
        return value

    def _trainable(self) -> Trainable:
        assert isinstance(self.network, Trainable)  # validated
        return self.network

    def check(self, dim: int) -> None:
        size = self._trainable().size(checks.dimension(dim))
        checks.memory(2 * size, f"dim = {dim}: the network's weights")

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        dim, network = self.checked(dim, rng), self._trainable()
        theta = network.initialise(dim, rng)

        def target(X: Floats) -> Floats:
            X = checks.matrix(X, dim=dim)
            return self.scale * np.asarray(network.forward(theta, X)).reshape(len(X))

        return target
