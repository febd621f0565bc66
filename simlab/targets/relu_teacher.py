"""A teacher of k ReLU neurons on the unit sphere with random signs: f*(x) = Σ_j s_j relu(v_j·x). MATH §6."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from simlab.activations.activation import Activation
from simlab.activations.relu import ReLU
from simlab.core import checks
from simlab.targets.neuron_sum import NeuronSum
from simlab.targets.target import Target


class ReLUTeacher(Target):
    """f(x) = Σ_j s_j relu(v_j·x), s_j = ±1 and ‖v_j‖ = 1."""

    has_neurons: ClassVar[bool] = True

    neurons: int = Field(3, ge=1, description="number k of neurons")

    def neuron_activation(self) -> Activation:
        return ReLU()

    def neuron_count(self) -> int:
        return self.neurons

    def check(self, dim: int) -> None:
        checks.memory(2 * self.neurons * checks.dimension(dim), f"dim = {dim} and neurons = {self.neurons}")

    def draw(self, dim: int, rng: np.random.Generator) -> NeuronSum:
        dim = self.checked(dim, rng)
        v = rng.standard_normal((self.neurons, dim))
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        return NeuronSum(v, rng.choice([-1.0, 1.0], size=self.neurons), self.neuron_activation())
