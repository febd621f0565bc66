"""Whether the first layer's neurons v_i = ‖v_i‖ v̄_i of a three-layer mean-field net are spread evenly. MATH §8.

- The coefficient of variation of ‖v‖: 0 where all lengths are equal.
- Rayleigh's statistic d m ‖mean v̄‖² and Bingham's ½ d(d+2) m (tr T² − 1/d), T = mean v̄v̄ᵀ, with their p-values. Under
  the uniform law and as m → ∞ they are χ² with d and (d−1)(d+2)/2 degrees of freedom. The first detects a preferred
  direction, the second a preferred axis without sign (Mardia and Jupp, Directional Statistics, §10.4, §10.7).
- The same with weights ‖v‖², which F gives the directions: ‖Σ ‖v‖²v̄‖/Σ‖v‖² and (d tr T_w² − 1)^{1/2} with
  T_w = Σ vvᵀ/Σ‖v‖². Both are 0 for an even spread, and about m^{−1/2} for a random one.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.special import chdtrc

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, three_layers
from simlab.record.schema import RECORD, Output


class NeuronSymmetry(Observable):
    """How evenly the first layer's neurons of a net of three layers are spread."""

    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def check(self, setting: Setting) -> None:
        three_layers(setting.network, self.kind)

    def outputs(self) -> dict[str, Output]:
        return {
            "norm_variation": Output("coefficient of variation of ‖v‖", (RECORD,)),
            "rayleigh": Output("Rayleigh statistic of the directions of v, χ² of d degrees if uniform", (RECORD,)),
            "rayleigh_p": Output("its p-value", (RECORD,)),
            "bingham": Output("Bingham statistic of the directions, χ² of (d−1)(d+2)/2 degrees if uniform", (RECORD,)),
            "bingham_p": Output("its p-value", (RECORD,)),
            "weighted_dipole": Output("‖Σ‖v‖²v̄‖/Σ‖v‖²", (RECORD,)),
            "weighted_quadrupole": Output("(d tr T² − 1)^(1/2), T = Σvvᵀ/Σ‖v‖²", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, float]:
        V, _, _ = three_layers(view.network, self.kind).particles(view.theta)
        norms = np.linalg.norm(V, axis=1)
        V, norms = V[norms > 0.0], norms[norms > 0.0]  # a neuron that is 0 has no direction
        if not len(V):
            return dict.fromkeys(self.outputs(), float("nan"))
        m, d = V.shape
        units = V / norms[:, np.newaxis]
        mean, T = units.mean(axis=0), units.T @ units / m
        rayleigh = d * m * float(mean @ mean)
        bingham = 0.5 * d * (d + 2) * m * max(0.0, float(np.sum(T * T)) - 1.0 / d)
        total = float(norms @ norms)
        weighted, T_w = norms @ V / total, V.T @ V / total
        return {
            "norm_variation": float(norms.std() / norms.mean()),
            "rayleigh": rayleigh,
            "rayleigh_p": float(chdtrc(d, rayleigh)),
            "bingham": bingham,
            "bingham_p": float(chdtrc((d - 1) * (d + 2) / 2, bingham)),
            "weighted_dipole": float(np.linalg.norm(weighted)),
            "weighted_quadrupole": float(np.sqrt(max(0.0, d * float(np.sum(T_w * T_w)) - 1.0))),
        }
