"""Judges of the claims about learned features and the mean-field limit say yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import claims

WIDTHS, SEEDS = np.array([16, 32, 64, 128, 512]), 8


def particles(rate: float, fall: float = 0.01, moved: float = 0.5) -> dict[str, Any]:
    """Predictions of the widest net 0, of others noise ~ (1/m − 1/M)^rate, at three records."""
    noise = np.random.default_rng(0).standard_normal((WIDTHS.size, SEEDS, 3, 200))
    size = (1.0 / WIDTHS - 1.0 / WIDTHS[-1]) ** rate
    risk = np.broadcast_to(np.array([1.0, 0.5, fall]), (WIDTHS.size, SEEDS, 3))
    return {
        "network.width": WIDTHS,
        "prediction": noise * np.where(np.arange(WIDTHS.size) < WIDTHS.size - 1, size, 0.0)[:, None, None, None],
        "step": np.broadcast_to(np.array([0, 10, 40]), (WIDTHS.size, SEEDS, 3)),
        "risk": risk,
        "relative_movement": np.full((WIDTHS.size, SEEDS, 3), moved),
    }


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (particles(0.5), True),
        (particles(0.4), True),
        (particles(0.3), False),
        (particles(0.7), False),
        (particles(0.1), False),
        (particles(0.5, fall=0.5), False),  # nothing was learned
        (particles(0.5, moved=0.01), False),  # the neurons stood still
    ],
)
def test_mean_field_limit(made: dict[str, Any], holds: bool) -> None:
    judgement = claims.get("mean_field_limit").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def neurons(descent: float = 1e-3, kernel: float = 0.3, cosine: float = 0.98) -> dict[str, Any]:
    """Two dimensions, three seeds, four records of which the last is empty; in the second dimension as given."""
    loss = np.full((2, 3, 4), 0.25)
    loss[0, :, 2], loss[1, :, 2] = 1e-4, 0.5 * descent
    loss[:, :, 3] = np.nan
    return {
        "data.dim": np.array([20, 40]),
        "target_variance": np.ones((2, 3)),
        "length": np.full((2, 3), 3),
        "test_loss": loss,
        "kernel_error": np.stack([np.full((3, 2), 0.3), np.array([[0.9, kernel]] * 3)]),
        "alignment_mean": np.stack([np.full((3, 4, 1), 0.99), np.full((3, 4, 1), cosine)]),
        "diverged": np.zeros((2, 3)),
    }


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (neurons(), True),
        (neurons(descent=0.05), False),
        (neurons(descent=np.nan), False),
        (neurons(kernel=0.1), False),
        (neurons(cosine=0.5), False),
    ],
)
def test_descent_single_neuron(made: dict[str, Any], holds: bool) -> None:
    judgement = claims.get("descent_single_neuron").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured
