"""Judges of the claims about the first layer of three-layer nets and the α-flow say yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import claims
from simlab.sphere.mean_relu import c_gamma
from tests.claims.test_machine_claims_curves import Made

WIDTHS, SEEDS = np.array([25, 75, 225, 675]), 16


def course(limit: float, matched: float, grown: float = 1.5, floor: float = 0.0) -> dict[str, Any]:
    """α at four records, off the α-flow by noise ~ m^limit and m^matched (and a floor), growing to `grown` times."""
    rng = np.random.default_rng(0)
    alpha = np.broadcast_to(np.linspace(1.0, grown, 4), (WIDTHS.size, SEEDS, 4))
    found: dict[str, Any] = {"network.width": WIDTHS, "alpha": alpha}
    for name, rate in (("limit", limit), ("matched", matched)):
        size = 0.7 * (WIDTHS / 25) ** rate + floor
        off = size[:, np.newaxis] * (1 + 0.1 * rng.standard_normal((WIDTHS.size, SEEDS)))
        found[f"alpha_{name}"] = alpha / (1 + 0.1 * off[:, :, np.newaxis] * np.linspace(0, 1, 4))
    return found


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (course(-0.5, -1.0), True),
        (course(-0.6, -0.8), True),
        (course(-0.3, -1.0), False),
        (course(-0.5, -0.5), False),  # matched alike: α₀ is not what is wrong
        (course(-1.0, -1.0), False),
        (course(-0.5, -1.0, floor=0.3), False),  # not the limit
        (course(-0.5, 0.0), False),
        (course(-0.5, -1.0, grown=1.05), False),  # nothing was learned
    ],
)
def test_alpha_flow(made: dict[str, Any], holds: bool) -> None:
    judgement = claims.get("alpha_flow").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_a_run_that_ended_early_does_not_follow_the_flow() -> None:
    made = course(-0.5, -1.0)
    made["alpha_limit"] = np.where(np.arange(4) < 2, made["alpha_limit"], np.nan)
    judgement = claims.get("alpha_flow").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is False
    assert "exponents None from the law's alpha" in judgement.measured


def layers(start: float = -0.5, end: float = -0.5, size: float = 1.0, grown: float = 1.5) -> Made:
    """rms of F/(α‖x‖) − 1 of both norms with these exponents, `size` times the predicted one at the start."""
    rng, dim = np.random.default_rng(1), 10
    norms = ["random", "equal"]
    std = np.empty((2, WIDTHS.size, SEEDS, 2))
    for i, fourth in enumerate((1 + 2 / dim, 1.0)):
        predicted = size * np.sqrt(fourth * (1 / (2 * c_gamma(dim) ** 2) - 1) / 100)
        for record, rate in enumerate((start, end)):
            noise = 1 + 0.1 * rng.standard_normal((WIDTHS.size, SEEDS))
            std[i, :, :, record] = predicted * ((WIDTHS / 100.0) ** rate)[:, np.newaxis] * noise
    dims = ("network.norms", "network.width", "seed", "record")
    made = Made(
        {"network.norms": norms, "network.width": WIDTHS, "seed": np.arange(SEEDS)},
        {
            "first_layer_std": (dims, 0.8 * std),
            "first_layer_mean": (dims, 1 + 0.6 * std),
            "alpha": (dims, np.broadcast_to([1.0, grown], std.shape)),
        },
    )
    made.attrs = {"spec": "[data]\ndim = 10"}  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (layers(), True),
        (layers(end=-0.42), True),
        (layers(start=-0.3), False),
        (layers(end=-0.2), False),
        (layers(start=0.0, end=0.0), False),
        (layers(size=1.2), False),
        (layers(size=0.8), False),
        (layers(grown=1.0), False),
    ],
)
def test_symmetric_first_layer(made: Made, holds: bool) -> None:
    judgement = claims.get("symmetric_first_layer").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured
