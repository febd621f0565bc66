"""A single neuron f(x) = φ(w·x), w of given norm and uniform direction, x as it is. MATH §7.

Its power by degree, on the sphere of radius r, is that of the zonal g(u) = φ(‖w‖ r u): proportional to r² for a
1-homogeneous φ (ReLU), to no power of r in general.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.activations.activation import Activation
from simlab.activations.relu import ReLU
from simlab.sphere.power import zonal_power
from simlab.sphere.zonal import axes
from simlab.targets._directions import check_directions
from simlab.targets.neuron_sum import NeuronSum
from simlab.targets.target import Floats, Target, check_power


class Neuron(Target):
    """f(x) = φ(w·x)."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"activation": "tanh", "norm": 3.0},
        {"activation": {"kind": "hermite", "degree": 2}},
    )
    has_neurons: ClassVar[bool] = True
    knows_power: ClassVar[bool] = True

    activation: Activation = Field(default_factory=ReLU, description="φ")
    norm: float = Field(1.0, gt=0, description="norm of w")

    def neuron_activation(self) -> Activation:
        return self.activation

    def check(self, dim: int) -> None:
        check_directions(1, dim)

    def draw(self, dim: int, rng: np.random.Generator) -> NeuronSum:
        dim = self.checked(dim, rng)
        return NeuronSum(self.norm * axes(1, dim, rng), np.ones(1), self.activation)

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        """As in the contract; by quadrature, to about 1e-14 of E f²."""
        dim, max_degree, radius = check_power(dim, max_degree, radius)
        scale = self.norm * radius
        kinks = [kink / scale for kink in self.activation.kink_points()]
        return zonal_power(lambda u: self.activation(scale * u), dim, max_degree, kinks)
