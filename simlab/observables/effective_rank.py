"""The effective rank of the features, the last hidden layer H (n, m): how many directions they use. MATH §6.

Let λ_i be the eigenvalues of H Hᵀ, H at the training inputs, and p_i = λ_i/Σλ. Measured are the participation ratio
1/Σ p_i² and the entropy rank exp(−Σ p_i log p_i). Both are 1 for one direction and k for k equal ones; the first
is never the larger one.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, lacks
from simlab.record.schema import RECORD, Output


def ranks(eigenvalues: NDArray[np.floating[Any]]) -> dict[str, float]:
    """Both ranks, by name, from eigenvalues λ_i (k,). Negative ones, rounding, are left out; without any left, 0."""
    values = eigenvalues[eigenvalues > 0.0]
    if not values.size:
        return {"participation_ratio": 0.0, "entropy_rank": 0.0}
    p = values / values.sum()
    return {
        "participation_ratio": float(1.0 / np.sum(p**2)),
        "entropy_rank": float(np.exp(-np.sum(p * np.log(p)))),
    }


class EffectiveRank(Observable):
    """Participation ratio and entropy rank of the last hidden layer."""

    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def check(self, setting: Setting) -> None:
        if not setting.network.has_features:
            raise lacks(setting.network, self.kind, "features", lambda cls: bool(cls.has_features))
        if setting.samples < 1:
            raise ValueError("samples = 0: effective_rank needs training inputs")

    def outputs(self) -> dict[str, Output]:
        return {
            "participation_ratio": Output("(Σλ)²/Σλ² of the eigenvalues of H Hᵀ over the training inputs", (RECORD,)),
            "entropy_rank": Output("exp(−Σ p log p), p = λ/Σλ, of the same", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, float]:
        H = view.network.features(view.theta, view.X)
        return ranks(np.linalg.eigvalsh(H @ H.T if H.shape[0] <= H.shape[1] else H.T @ H))
