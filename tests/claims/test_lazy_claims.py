"""Judges of the claims about lazy training say yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from simlab.claims._rates import rate

from simlab import claims

SEEDS = 6
ACTIVATIONS = np.array(["tanh", "relu"])


class Made(dict[str, Any]):
    """Results made up for a judge: coordinates by name, recorded names with their dimensions."""

    def __init__(self, coordinates: dict[str, Any], recorded: dict[str, NDArray[np.float64]], spec: str = "") -> None:
        super().__init__({**coordinates, **recorded})
        axes = tuple(coordinates)
        self.dims = dict.fromkeys(recorded, (*axes, "record")) | {name: (name,) for name in axes}
        self.dims["length"] = axes
        shape = next(iter(recorded.values())).shape
        self["length"] = np.full(shape[:-1], shape[-1])
        self.attrs = {"spec": spec}

    def select(self, name: str, at: dict[str, Any]) -> Any:
        chosen = {key: int(np.flatnonzero(self[key] == value)[0]) for key, value in at.items()}
        return self[name][tuple(chosen.get(dim, slice(None)) for dim in self.dims[name])]


def sups(x: NDArray[np.float64], exponents: tuple[float, float], noise: float, seed: int) -> NDArray[np.float64]:
    """(activations, x, seeds, records): largest in the middle of the trajectory, as given."""
    draws = np.random.default_rng(seed).standard_normal((2, x.size, SEEDS))
    largest = np.array([x**p for p in exponents])[:, :, np.newaxis] * np.exp(noise * draws)
    return largest[..., np.newaxis] * np.array([0.0, 0.3, 1.0, 0.5])


def lazy(movement: tuple[float, float], distance: tuple[float, float], noise: float = 0.005) -> Made:
    alpha = np.logspace(0, 3, 7)
    recorded = {
        "weight_movement": sups(alpha, movement, noise, 1),
        "linear_weight_distance": sups(alpha, distance, noise, 2),
    }
    return Made({"network.activation": ACTIVATIONS, "flow.alpha": alpha, "seed": np.arange(SEEDS)}, recorded)


@pytest.mark.parametrize(
    ("movement", "distance", "noise", "holds"),
    [
        ((-1.0, -1.0), (-2.0, -1.6), 0.005, True),
        ((-1.01, -0.99), (-1.98, -1.5), 0.005, True),
        ((0.0, 0.0), (0.0, 0.0), 0.005, False),
        ((-1.0, -0.9), (-2.0, -1.6), 0.005, False),  # one activation is enough
        ((-0.9, -1.0), (-2.0, -1.6), 0.005, False),
        ((-1.0, -1.0), (-1.5, -1.6), 0.005, False),
        ((-1.0, -1.0), (-2.2, -1.6), 0.005, False),
        ((-1.0, -1.0), (-2.0, -1.6), 0.3, False),  # too noisy to tell
    ],
)
def test_lazy_rates(movement: tuple[float, float], distance: tuple[float, float], noise: float, holds: bool) -> None:
    judgement = claims.get("lazy_rates").judge(lazy(movement, distance, noise))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_lazy_rates_need_every_point() -> None:
    made = lazy((-1.0, -1.0), (-2.0, -1.6))
    made["linear_weight_distance"][0, 3, 1, 2:] = np.nan  # diverged
    assert claims.get("lazy_rates").judge(made).holds is False  # type: ignore[arg-type]


def wide(predictions: tuple[float, float], weights: tuple[float, float], noise: float = 0.05) -> Made:
    width = np.array([64.0, 128.0, 256.0, 512.0, 1024.0])
    recorded = {
        "linear_test_distance": sups(width, predictions, noise, 3),
        "linear_weight_distance": sups(width, weights, noise, 4),
    }
    return Made({"network.activation": ACTIVATIONS, "network.width": width, "seed": np.arange(SEEDS)}, recorded)


@pytest.mark.parametrize(
    ("predictions", "weights", "holds"),
    [
        ((-1.0, -0.75), (-0.5, -0.3), True),
        ((-0.1, -0.1), (0.5, 0.5), False),  # as in the mean-field scaling
        ((-1.0, -0.5), (-0.5, -0.3), False),
        ((-0.6, -0.75), (-0.5, -0.3), False),
        ((-1.0, -0.75), (-0.2, -0.3), False),
        ((-1.0, -0.75), (0.0, -0.3), False),
    ],
)
def test_linearised_width(predictions: tuple[float, float], weights: tuple[float, float], holds: bool) -> None:
    judgement = claims.get("linearised_width").judge(wide(predictions, weights))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_an_interval_covers_seeds_and_fit() -> None:
    x = np.logspace(0, 3, 7)
    bent = (x**-1.0 * np.exp(0.1 * np.log(x) ** 2))[:, np.newaxis] * np.ones(SEEDS)
    of_bent = rate(x, bent)
    assert of_bent is not None
    assert of_bent.high - of_bent.low > 0.2, "seeds agree, but it is no power law"
    scattered = x[:, np.newaxis] ** np.linspace(-1.3, -0.7, SEEDS)
    of_scattered = rate(x, scattered)
    assert of_scattered is not None
    assert of_scattered.high - of_scattered.low > 0.2, "a power law, but seeds do not agree"
    straight = rate(x, x[:, np.newaxis] ** np.full(SEEDS, -1.0))
    assert straight is not None
    assert straight.high - straight.low < 1e-10


FULL_SPEC = """
[experiment]
samples = 1000
[data]
dim = 100
[network]
width = 50
[flow]
steps = 10000
"""
TAUS = np.array([0.01, 0.1, 1.0, 10.0])
ENDS = np.array([8e-5, 1.7e-3, 3.1e-3, 3.2e-3])


def sweep(ends: Any, spread: float = 0.3, spec: str = "") -> Made:
    """Ten teachers whose losses have exactly these means and relative deviations."""
    draws = np.random.default_rng(5).standard_normal((TAUS.size, 10))
    draws = (draws - draws.mean(axis=1, keepdims=True)) / draws.std(axis=1, ddof=1, keepdims=True)
    losses = np.asarray(ends)[:, np.newaxis] * (1 + spread * draws)
    records = losses[..., np.newaxis] * np.array([50.0, 1.0])
    return Made({"network.init_std": TAUS, "seed": np.arange(10)}, {"test_loss": records}, spec)


@pytest.mark.parametrize(
    ("ends", "spec", "holds"),
    [
        (ENDS, "", True),
        (ENDS[::-1], "", False),  # falls
        (3e-3 * np.ones(4), "", False),  # flat, as under lazy training for every τ
        ([8e-5, 1.7e-3, 3.2e-3, 3.1e-3], "", True),  # a fall within the standard errors
        ([8e-5, 3.2e-3, 1.7e-3, 3.3e-3], "", False),
        ([1e-3, 1.7e-3, 3.1e-3, 3.2e-3], "", False),  # rises, but not by much
        (ENDS, FULL_SPEC, True),
        ([1.2e-4, 1.7e-3, 3.1e-3, 3.2e-3], FULL_SPEC, False),  # (1.2e-4 − 7.5e-5) / (0.3 · 1.2e-4 · √0.2) = 2.8
        ([8e-5, 1.2e-3, 3.1e-3, 3.2e-3], FULL_SPEC, False),
        ([8e-5, 1.7e-3, 5.0e-3, 5.2e-3], FULL_SPEC, False),
        ([8e-5, 1.7e-3, 5.0e-3, 5.2e-3], FULL_SPEC.replace("1000\n", "500\n"), True),  # not the published setting
        ([8e-5, np.nan, 3.1e-3, 3.2e-3], "", False),
    ],
)
def test_lazy_generalisation(ends: Any, spec: str, holds: bool) -> None:
    judgement = claims.get("lazy_generalisation").judge(sweep(ends, spec=spec))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_standard_errors_of_the_difference_count_both_sets_of_teachers() -> None:
    judgement = claims.get("lazy_generalisation").judge(sweep(ENDS, spec=FULL_SPEC))  # type: ignore[arg-type]
    off = judgement.numbers["published_off"]
    assert off["0.01"] == pytest.approx((8e-5 - 7.5e-5) / (0.3 * 8e-5 * 0.2**0.5))
    assert off["1"] == pytest.approx((3.1e-3 - 3.07e-3) / (0.3 * 3.1e-3 * 0.2**0.5))
