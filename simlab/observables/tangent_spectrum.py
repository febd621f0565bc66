"""Eigenvalues λ_i of K/n, K the tangent kernel at the start, and the residual's power in each mode.

With c_i = v_i·(α f₀ − y), linearised descent of step η has the loss (1/2n) Σ c_i² (1 − η λ_i)^{2t}. MATH §5, §6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.observables.observable import Observable
from simlab.observables.view import View
from simlab.record.schema import Output


class TangentSpectrum(Observable):
    """Eigenvalues of K/n at the start, and the residual's power in each mode."""

    def outputs(self) -> dict[str, Output]:
        return {
            "tangent_eigenvalue": Output("eigenvalue of the tangent kernel over n at the start, ascending", ("mode",)),
            "tangent_power": Output("square of the initial residual's part in the mode, over n", ("mode",)),
        }

    def measure(self, view: View) -> dict[str, NDArray[Any]]:
        n = len(view.y)
        values, vectors = np.linalg.eigh(view.network.tangent_gram(view.theta, view.X) / n)
        residual = view.predict(view.X) - view.y
        return {"tangent_eigenvalue": values, "tangent_power": (vectors.T @ residual) ** 2 / n}
