"""The loss of a three-layer mean-field net in two parts: of its symmetrisation f̃, and of f about it. MATH §8.

    ½E(y−f)² = ½E(y−f̃)² + ½E(f̃−f)² + E(y−f̃)(f̃−f),      f̃(r) = E_x̄ f(r x̄),     and the last is 0 for a radial y.

As F is 1-homogeneous, f̃(r) = E_x̄ h(r F(x̄)), h the outer layer. E is the mean over the n test samples. E_x̄ is the mean
over K = `directions` fixed random directions x̄_k, independent of the test inputs and of the net. The standard error of
the cross term is made of two: that of a mean of (y−f̃)(f̃−f) over n test inputs, and that of a mean over K directions,
to first order of (1/n) Σ_i (y_i − 2f̃_i + f_i)(h(r_i F(x̄_k)) − f̃_i).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.rng import Streams
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, three_layers
from simlab.record.schema import RECORD, Output
from simlab.sphere.zonal import axes

Floats = NDArray[np.float64]


class LossSplit(Observable):
    """The loss of a net of three layers as that of its symmetrisation and of the rest."""

    needs_test: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"directions": 50})

    directions: int = Field(1000, ge=2, description="number K of directions that f is averaged over")

    def check(self, setting: Setting) -> None:
        three_layers(setting.network, self.kind)
        if setting.test_samples < 2:
            raise ValueError(f"test_samples = {setting.test_samples}: loss_split splits the loss there and needs 2")

    def outputs(self) -> dict[str, Output]:
        return {
            "split_loss": Output("½ mean (y − f)² over the test samples, the sum of the three", (RECORD,)),
            "split_radial": Output("½ mean (y − f̃)², f̃ the symmetrisation of f", (RECORD,)),
            "split_spread": Output("½ mean (f̃ − f)²", (RECORD,)),
            "split_cross": Output("mean (y − f̃)(f̃ − f)", (RECORD,)),
            "split_cross_error": Output("standard error of the cross term", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, float]:
        K, network = self.directions, three_layers(view.network, self.kind)
        units = view.cached(f"loss_split {K}", lambda: axes(K, view.dim, Streams(0)["symmetrisation"]))
        _, w, b = network.particles(view.theta)
        along = network.first_layer(view.theta, units)
        r, y, n = np.linalg.norm(view.X_test, axis=1), view.y_test, len(view.y_test)
        h = view.alpha * network.outer(w, b, np.multiply.outer(along, r))  # (K, n)
        symmetric, f = h.mean(axis=0), view.predict(view.X_test)
        cross = (y - symmetric) * (symmetric - f)
        by_direction = h @ (y - 2.0 * symmetric + f) / n  # up to a constant, which does not change the variance
        return {
            "split_loss": float(np.mean((y - f) ** 2)) / 2,
            "split_radial": float(np.mean((y - symmetric) ** 2)) / 2,
            "split_spread": float(np.mean((symmetric - f) ** 2)) / 2,
            "split_cross": float(np.mean(cross)),
            "split_cross_error": float(np.sqrt(cross.var(ddof=1) / n + by_direction.var(ddof=1) / K)),
        }
