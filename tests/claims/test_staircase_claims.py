"""Judges of the claims about merged staircases say yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import claims


class Made(dict[str, Any]):
    """Results with the text of a spec."""

    attrs = {"spec": "[network]\nwidth = 10\n"}  # noqa: RUF012


def learned(exact: float = 0.01, sgd: float = 0.05, apart: float = 0.02, end: float = 50.0) -> Made:
    """Two seeds, three records; the second seed is as given, the first good."""
    loss = np.array([[1.5, 0.5, 1e-6], [1.5, 0.5, exact]])
    return Made(
        {
            "time": np.array([[0.0, 10.0, 10 * end]] * 2),
            "loss_limit": loss,
            "test_loss": np.array([[1.5, 0.5, 0.01], [1.5, 0.5, sgd]]),
            "distance": np.array([[0.0, 0.1, 0.01], [0.0, 0.1, apart]]),
            "leap": np.array([1, 1]),
        }
    )


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (learned(), True),
        (learned(exact=0.5), False),  # a stalled limit
        (learned(sgd=0.5), False),
        (learned(sgd=np.nan), False),
        (learned(apart=0.5), False),
        (learned(end=300.0), False),  # 0.01 is too much by then
        (learned(exact=1e-5, end=300.0), True),
    ],
)
def test_merged_staircase(made: Made, holds: bool) -> None:
    judgement = claims.get("merged_staircase").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def limits(exponent: float = -1.0, bump: float = 1.0, left: float = 0.3) -> dict[str, Any]:
    """Four dimensions, three seeds, three records; at the third dimension `bump` times the power law."""
    dims = np.array([10.0, 20.0, 40.0, 80.0])
    size = 0.3 * dims**exponent * np.array([1.0, 1.0, bump, 1.0])
    distance = size[:, np.newaxis, np.newaxis] * np.array([0.0, 1.0, 1.2]) * np.ones((1, 3, 1))
    return {
        "data.dim": dims.astype(int),
        "distance": distance,
        "test_loss": np.broadcast_to(np.array([1.5, 1.0, 1.5 * left]), (4, 3, 3)),
    }


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (limits(), True),
        (limits(-1.4), True),
        (limits(-0.1), False),
        (limits(-2.0), False),
        (limits(bump=2.5), False),  # does not fall throughout
        (limits(left=0.8), False),  # nothing was learned
        (limits() | {"distance": np.full((4, 3, 3), np.nan)}, False),
    ],
)
def test_staircase_limit(made: dict[str, Any], holds: bool) -> None:
    judgement = claims.get("staircase_limit").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured
