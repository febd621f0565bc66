"""A single neuron f(x) = φ(w·x), w of given norm and uniform direction, x as it is. MATH §7.

Its power by degree, on the sphere of radius r, is that of the zonal g(u) = φ(‖w‖ r u): proportional to r² for a
1-homogeneous φ (ReLU), to no power of r in general.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations import relu
from simlab.activations.elementwise import apply
from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.core.params import Room, module_of
from simlab.sphere.power import zonal_power
from simlab.targets._sphere import unit_vectors
from simlab.targets.neuron_sum import NeuronSum

Floats = NDArray[np.float64]


class Params(Base):
    activation: Annotated[Base, Room("activations")] = Field(relu.Params(), description="φ")
    norm: float = Field(1.0, gt=0, description="norm of w")


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"activation": "tanh", "norm": 3.0},
    {"activation": {"kind": "hermite", "degree": 2}},
)


def draw(params: Params, dim: int, rng: np.random.Generator) -> NeuronSum:
    return NeuronSum(params.norm * unit_vectors(1, dim, rng), np.ones(1), params.activation)


def power(params: Params, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
    """For x uniform on the sphere of this radius; by quadrature, to about 1e-14 of E f²."""
    dim, max_degree = checks.dimension(dim, least=2), checks.degree(max_degree)
    radius = checks.number(radius, "radius", above=0)
    scale = params.norm * radius
    kinks = [kink / scale for kink in module_of(params.activation).kinks(params.activation)]
    return zonal_power(lambda u: apply(params.activation, scale * u), dim, max_degree, kinks)
