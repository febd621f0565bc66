"""The empirical tangent kernel K̂_t = J_t J_tᵀ along the flow: its drift, its limit, its target. MATH §6.

- drift ‖K̂_t − K̂_0‖/‖K̂_0‖: 0 in the linear regime, falling with the width;
- distance to the infinite width ‖K̂_t − Θ‖/‖Θ‖, Θ as in `limit` (with ``limit = true``);
- alignment with the target ⟨K̂_t, yyᵀ⟩/(‖K̂_t‖ ‖y‖²), 1 where the kernel is a multiple of yyᵀ.

Frobenius norms over pairs of the training inputs, or of the first `points` of the test inputs.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.params import Params as Base
from simlab.core.params import kind_of
from simlab.observables.view import ANY_DIM, Setting, View
from simlab.record.schema import RECORD, Output

Floats = NDArray[np.float64]


class Params(Base):
    inputs: Literal["train", "test"] = Field("train", description="training inputs, or test inputs")
    points: int | None = Field(None, ge=1, description="how many of them, the first; left out: all")
    limit: bool = Field(False, description="measure the distance to the kernel of infinite width too")


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"inputs": "test", "points": 4, "limit": True})


def check(params: Params, setting: Setting) -> None:
    there = setting.samples if params.inputs == "train" else setting.test_samples
    if there < (params.points or 1):
        raise ValueError(
            f"observables tangent_drift.points = {params.points}: there are {there} {params.inputs} samples"
            if params.points
            else f'observables tangent_drift.inputs = "{params.inputs}": there are no {params.inputs} samples'
        )
    if params.limit:
        try:
            setting.network.limit_kernel(ANY_DIM)
        except ValueError as error:
            raise ValueError(f"observables tangent_drift.limit = true with {error}") from None


def outputs(params: Params) -> dict[str, Output]:
    found = {
        "tangent_drift": Output("‖K̂_t − K̂_0‖/‖K̂_0‖ of the tangent kernel", (RECORD,)),
        "tangent_alignment": Output("⟨K̂_t, yyᵀ⟩/(‖K̂_t‖ ‖yyᵀ‖), alignment with the target", (RECORD,)),
    }
    if params.limit:
        found["limit_distance"] = Output("‖K̂_t − Θ‖/‖Θ‖, distance to the tangent kernel of infinite width", (RECORD,))
    return found


def measure(params: Params, view: View) -> dict[str, float]:
    part = slice(params.points)
    X, y = (view.X[part], view.y[part]) if params.inputs == "train" else (view.X_test[part], view.y_test[part])
    gram = view.module.tangent_gram
    key = f"{kind_of(params)} {params.inputs} {params.points}"
    start = view.once(f"{key} start", lambda: gram(view.network, view.theta0, X))
    now = start if view.step == 0 and view.time == 0.0 else gram(view.network, view.theta, X)
    found = {
        "tangent_drift": relative(now, start),
        "tangent_alignment": _over(float(y @ now @ y), float(np.linalg.norm(now)) * float(y @ y)),
    }
    if params.limit:
        limit = view.once(f"{key} limit", lambda: view.network.limit_kernel(view.dim).gram(X))
        found["limit_distance"] = relative(now, limit)
    return found


def relative(K: Floats, reference: Floats) -> float:
    """‖K − K'‖/‖K'‖ in the Frobenius norm."""
    return _over(float(np.linalg.norm(K - reference)), float(np.linalg.norm(reference)))


def _over(part: float, whole: float) -> float:
    """0 where both are 0: a kernel or a target that vanishes."""
    return part / whole if whole > 0.0 or part != 0.0 else 0.0
