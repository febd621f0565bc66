"""Judges of the claims about wide nets say yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import claims
from simlab.statistics.degrees import degrees_present
from tests.claims.test_machine_claims_curves import Made

WIDTHS = np.array([64, 128, 256, 512])


def noisy(clean: Any, count: int, noise: float) -> Any:
    """(…, count): repetitions with this relative noise."""
    draws = np.random.default_rng(0).standard_normal((*np.shape(clean), count))
    return np.asarray(clean)[..., np.newaxis] * np.exp(noise * draws)


@pytest.mark.parametrize(
    ("exponents", "noise", "holds"),
    [
        ((-0.5, -0.5), 0.2, True),
        ((-0.45, -0.55), 0.2, True),
        ((-0.5, -0.3), 0.2, False),  # one depth is enough
        ((-0.7, -0.5), 0.2, False),
        ((0.0, 0.0), 0.2, False),
        ((-0.5, -0.5), 1.5, False),  # too noisy to tell
    ],
)
def test_ntk_width(exponents: tuple[float, float], noise: float, holds: bool) -> None:
    errors = noisy([WIDTHS.astype(float) ** p for p in exponents], 60, noise)
    dims = ("network.depth", "network.width", "draw")
    coords = {"network.depth": [2, 3], "network.width": WIDTHS, "draw": np.arange(60)}
    made = Made(coords, {"rms_error": (dims, errors), "sup_error": (dims, 3 * errors)})
    judgement = claims.get("ntk_width").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


@pytest.mark.parametrize(
    ("erf", "relu", "holds"),
    [(-1.0, -0.75, True), (-1.1, -0.85, True), (-0.5, -0.75, False), (-1.0, 0.0, False), (-1.0, -1.2, False)],
)
def test_ntk_drift(erf: float, relu: float, holds: bool) -> None:
    ends = noisy([WIDTHS.astype(float) ** p for p in (erf, relu)], 8, 0.1)
    drift = np.stack([np.zeros_like(ends), ends], axis=-1)
    coords = {"network.activation": ["erf", "relu"], "network.width": WIDTHS, "seed": np.arange(8)}
    dims = ("network.activation", "network.width", "seed", "record")
    judgement = claims.get("ntk_drift").judge(Made(coords, {"tangent_drift": (dims, drift)}))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_ntk_drift_of_a_run_that_ended_early_does_not_hold() -> None:
    drift = np.full((2, 4, 8, 2), np.nan)
    coords = {"network.activation": ["erf", "relu"], "network.width": WIDTHS, "seed": np.arange(8)}
    dims = ("network.activation", "network.width", "seed", "record")
    judgement = claims.get("ntk_drift").judge(Made(coords, {"tangent_drift": (dims, drift)}))  # type: ignore[arg-type]
    assert judgement.holds is False
    assert judgement.measured == "erf: no power law; relu: no power law"


def descent(factors: tuple[float, float]) -> Made:
    """Degrees 1 and 3 with eigenvalues 0.2 and 0.01, η = 2; each contracts at `factors` times its predicted rate."""
    step, mu = np.arange(0, 101, 2), np.array([0.5, 0.2, 0.1, 0.01])
    rates = 2 * np.log(1 - 2 * mu[[1, 3]]) * factors
    power = np.zeros((2, len(step), 4))
    power[:, :, [1, 3]] = np.exp(np.outer(step, rates))
    power[1] *= 3.0  # another target
    power[:, :, 0] = 0.02  # noise
    return Made(
        {"seed": [0, 1]},
        {
            "residual_power": (("seed", "record", "degree"), power),
            "residual_power_error": (("seed", "record", "degree"), np.full_like(power, 0.01)),
            "step": (("seed", "record"), np.stack([step, step])),
            "limit_eigenvalue": (("seed", "degree"), np.stack([mu, mu])),
            "step_size": (("seed",), [2.0, 2.0]),
        },
    )


@pytest.mark.parametrize(
    ("factors", "holds"),
    [((1.0, 1.0), True), ((0.9, 1.1), True), ((1.0, 1.5), False), ((0.6, 1.0), False), ((1.0, -1.0), False)],
)
def test_low_degrees_first(factors: tuple[float, float], holds: bool) -> None:
    made = descent(factors)
    assert degrees_present(made["residual_power"], made["residual_power_error"]) == [1, 3]
    judgement = claims.get("low_degrees_first").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_low_degrees_first_is_about_the_order_too() -> None:
    """Right rates of a kernel that learns degree 3 first are not what is claimed."""
    made = descent((1.0, 1.0))
    made["limit_eigenvalue"] = made["limit_eigenvalue"][:, [0, 3, 2, 1]]
    made["residual_power"] = made["residual_power"][:, :, [0, 3, 2, 1]]
    judgement = claims.get("low_degrees_first").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is False
    assert "1.000" in judgement.measured
