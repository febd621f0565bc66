"""A target whose neurons are known: g(x) = Σ_k c_k φ(v_k·x). MATH §7."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simlab.activations.elementwise import apply
from simlab.core import checks
from simlab.core.params import Params

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NeuronSum:
    """`neurons` v : (k, d), `coefficients` c : (k,), φ = `activation`."""

    neurons: Floats
    coefficients: Floats
    activation: Params

    def __call__(self, X: Floats) -> Floats:
        values: Floats = (
            apply(self.activation, checks.matrix(X, dim=self.neurons.shape[1]) @ self.neurons.T) @ self.coefficients
        )
        return values
