"""The empirical tangent kernel K̂_t = J_t J_tᵀ along the flow: drift, distance to its limit, alignment. MATH §6.

- drift ‖K̂_t − K̂_0‖/‖K̂_0‖: 0 in the linear regime, falling with the width;
- distance to the infinite width ‖K̂_t − Θ‖/‖Θ‖, Θ the network's `limit_kernel` (with ``limit = true``);
- alignment with the target ⟨K̂_t, yyᵀ⟩/(‖K̂_t‖ ‖yyᵀ‖), 1 where the kernel is a multiple of yyᵀ.

With several outputs K̂ is the mean of their kernels, and y : (n, c).

Frobenius norms over pairs of the training inputs, or of the first `points` of the test inputs.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.observables.observable import Observable
from simlab.observables.view import ANY_DIM, Setting, View
from simlab.record.schema import RECORD, Output

Floats = NDArray[np.float64]


def relative(K: Floats, reference: Floats) -> float:
    """‖K − R‖/‖R‖ in the Frobenius norm, of kernel matrices K and R = `reference`, (n, n)."""
    return _over(float(np.linalg.norm(K - reference)), float(np.linalg.norm(reference)))


def _over(part: float, whole: float) -> float:
    """part/whole; 0 where both are 0, as for a kernel or a target that vanishes."""
    return part / whole if whole > 0.0 or part != 0.0 else 0.0


def _alignment(K: Floats, y: Floats) -> float:
    """⟨K, yyᵀ⟩/(‖K‖ ‖yyᵀ‖) of K : (n, n) and y : (n,) or (n, c)."""
    if y.ndim == 1:
        return _over(float(y @ K @ y), float(np.linalg.norm(K)) * float(y @ y))
    return _over(float(np.sum(y * (K @ y))), float(np.linalg.norm(K)) * float(np.linalg.norm(y.T @ y)))


class TangentDrift(Observable):
    """Drift of the tangent kernel, its alignment with y, and its distance to infinite width."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"inputs": "test", "points": 4, "limit": True})

    inputs: Literal["train", "test"] = Field("train", description="training inputs, or test inputs")
    points: int | None = Field(None, ge=1, description="how many of them, the first; left out: all")
    limit: bool = Field(False, description="measure the distance to the kernel of infinite width too")

    def check(self, setting: Setting) -> None:
        there = setting.samples if self.inputs == "train" else setting.test_samples
        if there < (self.points or 1):
            raise ValueError(
                f"observables tangent_drift.points = {self.points}: there are {there} {self.inputs} samples"
                if self.points
                else f'observables tangent_drift.inputs = "{self.inputs}": there are no {self.inputs} samples'
            )
        if self.limit:
            try:
                setting.network.limit_kernel(ANY_DIM)
            except ValueError as error:
                raise ValueError(f"observables tangent_drift.limit = true with {error}") from None

    def outputs(self) -> dict[str, Output]:
        found = {
            "tangent_drift": Output("‖K̂_t − K̂_0‖/‖K̂_0‖ of the tangent kernel", (RECORD,)),
            "tangent_alignment": Output("⟨K̂_t, yyᵀ⟩/(‖K̂_t‖ ‖yyᵀ‖), alignment with the target", (RECORD,)),
        }
        if self.limit:
            found["limit_distance"] = Output(
                "‖K̂_t − Θ‖/‖Θ‖, distance to the tangent kernel of infinite width", (RECORD,)
            )
        return found

    def measure(self, view: View) -> dict[str, float]:
        part = slice(self.points)
        X, y = (view.X[part], view.y[part]) if self.inputs == "train" else (view.X_test[part], view.y_test[part])
        gram = view.network.tangent_gram
        key = f"{self.kind} {self.inputs} {self.points}"
        start = view.cached(f"{key} start", lambda: gram(view.theta0, X))
        now = start if view.step == 0 and view.time == 0.0 else gram(view.theta, X)
        found = {
            "tangent_drift": relative(now, start),
            "tangent_alignment": _alignment(now, y),
        }
        if self.limit:
            limit = view.cached(f"{key} limit", lambda: view.network.limit_kernel(view.dim).gram(X))
            found["limit_distance"] = relative(now, limit)
        return found
