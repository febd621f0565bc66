"""Judges of the lower bounds on the cube say yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from simlab import claims
from simlab.claims import feature_bound, kernel_bound
from tests.claims.test_machine_claims_curves import Made

BOUND = 0.3**2 / 16


def made(below: int, axis: str = "kernel", functions: int = 230, risk: float = 0.36) -> Any:
    """Two learners, 200 targets; of the second `below` targets are just below the bound."""
    risks = np.full((2, 200), risk)
    risks[1, :below] = 0.99 * BOUND
    tables = [f'{{"kind": "{kind}"}}' for kind in ("nngp", "ntk")]
    one = ((axis,), np.ones(2))
    values = {
        "risk": ((axis, "target"), risks),
        "functions": ((axis,), np.full(2, functions)),
        "allowed": ((axis,), np.full(2, 230)),
        "bound": ((axis,), BOUND * one[1]),
        "without_parity": ((axis,), 0.36 * one[1]),
    }
    if axis == "kernel":
        values["ridge_risk"] = ((axis, "target"), 2 * risks)
    return Made({axis: tables, "target": np.arange(200)}, values)  # type: ignore[arg-type]


@pytest.mark.parametrize("claim", [kernel_bound, feature_bound])
@pytest.mark.parametrize(
    ("below", "functions", "risk", "holds"),
    [
        (0, 230, 0.36, True),
        (2, 230, 0.36, True),  # 99 %
        (3, 230, 0.36, False),
        (0, 230, 1.01 * BOUND, True),
        (0, 231, 0.36, False),  # more than the theorem speaks of
        (0, 230, 0.0, False),
    ],
)
def test_bound(claim: Any, below: int, functions: int, risk: float, holds: bool) -> None:
    axis = "kernel" if claim is kernel_bound else "network"
    judgement = claims.get("claim").judge(made(below, axis, functions, risk))
    assert judgement.holds is holds, judgement.measured


@pytest.mark.parametrize(("claim", "axis"), [(kernel_bound, "kernel"), (feature_bound, "network")])
def test_figure_shows_every_target(claim: Any, axis: str) -> None:
    figure = claims.get("claim").figure(made(0, axis), made(200, axis))
    assert isinstance(figure, Figure)
    assert next(text.get_text() for text in figure.axes[0].get_yticklabels()).startswith("nngp, ")
    assert any(len(line.get_xdata()) == 200 for line in figure.axes[1].lines)
