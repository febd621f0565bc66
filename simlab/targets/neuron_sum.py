"""A target whose neurons are known: g(x) = Σ_k c_k φ(v_k·x). MATH §7."""

from __future__ import annotations

from dataclasses import dataclass

from simlab.activations.activation import Activation
from simlab.core import checks
from simlab.targets.target import Floats


@dataclass(frozen=True, eq=False)
class NeuronSum:
    """g(x) = Σ_k c_k φ(v_k·x).

    neurons: v (k, d).
    coefficients: c (k,).
    activation: φ.
    """

    neurons: Floats
    coefficients: Floats
    activation: Activation

    def __call__(self, X: Floats) -> Floats:
        products = checks.matrix(X, dim=self.neurons.shape[1]) @ self.neurons.T
        values: Floats = self.activation(products) @ self.coefficients
        return values
