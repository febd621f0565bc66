"""The discretisation error of a three-layer mean-field net's first layer, and how fast it changes. MATH §8.

    D = E_x̄ (F(x̄)/α − 1)² = E_x̄ F(x̄)²/α² − 1,     x̄ uniform on the unit sphere, where E F = α,

the relative distance of F from α‖x‖ on the sphere (under φ² itself ‖x‖ has no second moment). D is exact: ½E F² is the
population risk, without a teacher, of the two-layer net F = (1/m₁) Σ ‖v_i‖ σ(v_i·x̄) (`networks.population`, the
arc-cosine kernel of m₁²/2 angles). Its gradient makes dD/dt = ⟨∇_v D, v̇⟩ exact as well, where v̇ = −m₁ ∂R/∂v is the
flow's velocity on the training samples in the time of particles. For independent v of a symmetric law the mean
of D is, to leading order, ρ[1/(2C_Γ²) − 1]/m₁, ρ = E‖v‖⁴/(E‖v‖²)². The fluctuation of the
particles' own α, (ρ − 1)/m₁, is no part of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simlab.core.blas import one_blas_thread
from simlab.networks.population import risk_and_gradient
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, three_layers
from simlab.record.schema import RECORD, Output
from simlab.sphere.mean_relu import mean_relu

Floats = NDArray[np.float64]
MOST_NEURONS = 12_000
"""The products of all pairs of so many neurons take 1.2 GB."""


def relative_error(V: Floats) -> tuple[float, Floats]:
    """D and its gradient ∂D/∂V (m, d), of neurons V (m, d)."""
    m, d = V.shape
    norms = np.linalg.norm(V, axis=1)
    with one_blas_thread():
        half, by_factor, by_weight = risk_and_gradient(norms, V, np.empty(0), np.empty((0, d)), 1.0 / m, 1.0 / d)
    units = np.divide(V, norms[:, np.newaxis], out=np.zeros_like(V), where=norms[:, np.newaxis] > 0.0)
    slope = by_weight + by_factor[:, np.newaxis] * units  # gradient of ½E F², through the factor ‖v_i‖ too
    alpha = mean_relu(d) * float(norms @ norms) / m
    alpha_slope = 2.0 * mean_relu(d) / m * V
    return 2.0 * half / alpha**2 - 1.0, 2.0 * slope / alpha**2 - 4.0 * half / alpha**3 * alpha_slope


class DiscretisationError(Observable):
    """D = E(F/α − 1)² of a net of three layers, and dD/dt."""

    def check(self, setting: Setting) -> None:
        width = three_layers(setting.network, self.kind).first_width()
        if width is not None and width > MOST_NEURONS:
            raise ValueError(
                f"network.width = {width}: discretisation_error compares all pairs of at most {MOST_NEURONS}"
            )

    def outputs(self) -> dict[str, Output]:
        return {
            "discretisation_error": Output("D = E(F/α − 1)² over the unit sphere", (RECORD,)),
            "discretisation_rate": Output("dD/dt in the time of particles", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, float]:
        V, _, _ = three_layers(view.network, self.kind).particles(view.theta)
        error, slope = relative_error(V)
        _, grad = view.network.loss_and_gradient(view.theta, view.X, view.y, view.alpha)
        velocity = -len(V) / view.alpha**2 * grad[: V.size].reshape(V.shape)
        return {"discretisation_error": error, "discretisation_rate": float(np.sum(slope * velocity))}
