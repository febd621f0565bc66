"""What an observable may look at: one instant of a flow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from simlab.core.params import Params, module_of


@dataclass(frozen=True)
class View:
    """Weights now and at the start, training and test data, the network and its output scale α."""

    theta: NDArray[np.float64]
    theta0: NDArray[np.float64]
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.float64]
    network: Params
    alpha: float

    @property
    def module(self) -> ModuleType:
        return module_of(self.network)

    @cached_property
    def train_loss(self) -> float:
        return self.half_mean_square(self.X, self.y)

    def half_mean_square(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
        """(1/2n) Σ (α f(x_i) − y_i)²; NaN without data."""
        if not len(y):
            return float("nan")
        residual = self.alpha * self.module.forward(self.network, self.theta, X) - y
        return float(residual @ residual) / (2 * len(y))
