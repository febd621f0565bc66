"""A teacher of k ReLU neurons on the unit sphere with random signs: f*(x) = Σ_j s_j relu(v_j·x). MATH §6."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from simlab.activations import relu
from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.targets.neuron_sum import NeuronSum


class Params(Base):
    neurons: int = Field(3, ge=1, description="number k of neurons")


def draw(params: Params, dim: int, rng: np.random.Generator) -> NeuronSum:
    dim = checks.draw_from(dim, rng)
    checks.room(2 * params.neurons * dim, f"dim = {dim} and neurons = {params.neurons}")
    v = rng.standard_normal((params.neurons, dim))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return NeuronSum(v, rng.choice([-1.0, 1.0], size=params.neurons), relu.Params())
