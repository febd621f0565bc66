"""Judges of the claims about limits and flows say yes and no on made-up results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab import claims

WIDTHS = np.array([16, 32, 64, 128, 256])


class Made(dict[str, Any]):
    """Results made up for a judge; `select` takes the index of each coordinate in turn."""

    def select(self, name: str, at: dict[str, Any]) -> Any:
        values = self[name]
        for key, wanted in at.items():
            values = values[int(np.flatnonzero(self[key] == wanted)[0])]
        return values


def features(*exponents: float, noise: float = 0.02) -> Made:
    """One map an exponent, 20 repetitions with this relative noise."""
    draws = np.random.default_rng(0).standard_normal((2, len(exponents), WIDTHS.size, 20))
    clean = np.array([WIDTHS**p for p in exponents])[:, :, np.newaxis]
    sup, rms = clean * np.exp(noise * draws)
    maps = [json.dumps({"kind": "fourier_features", "kernel": f"k{i}"}) for i in range(len(exponents))]
    return Made({"network": np.array(maps), "network.width": WIDTHS, "sup_error": sup, "rms_error": rms})


@pytest.mark.parametrize(
    ("exponents", "noise", "holds"),
    [
        ((-0.5, -0.5), 0.02, True),
        ((-0.53, -0.47), 0.02, True),
        ((-0.5, -0.6), 0.02, False),  # one of the maps is enough
        ((-0.85, -0.5), 0.02, False),
        ((-0.4,), 0.02, False),
        ((0.0,), 0.02, False),
        ((-0.5, -0.5), 1.0, False),  # too noisy to tell
    ],
)
def test_random_feature_rate(exponents: tuple[float, ...], noise: float, holds: bool) -> None:
    judgement = claims.get("random_feature_rate").judge(features(*exponents, noise=noise))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_random_feature_rate_without_a_power_law() -> None:
    made = features(-0.5)
    made["sup_error"] = np.zeros_like(made["sup_error"])
    judgement = claims.get("random_feature_rate").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is False
    assert "no power law in 1 of 2" in judgement.measured


def nets(
    conjugate: float = -0.5, kurtosis: float = -1.0, size: float = 20.0, z: float = 2.0, distance: float = 0.03
) -> Made:
    flat = np.ones(WIDTHS.size)
    return Made(
        {
            "network.width": WIDTHS,
            "conjugate_error": 2.0 * WIDTHS**conjugate,
            "kurtosis": size * WIDTHS**kurtosis,
            "kurtosis_se": 0.02 * flat,
            "covariance_z": z * flat,
            "ks_distance": distance * flat,
            "ks_critical": 0.05 * flat,
        }
    )


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({}, True),
        ({"conjugate": -0.53, "kurtosis": -1.2}, True),
        ({"conjugate": -0.1}, False),
        ({"conjugate": -0.6}, False),
        ({"kurtosis": -0.2}, False),
        ({"kurtosis": -1.5}, False),
        ({"size": 0.0}, False),
        ({"z": 6.0}, False),
        ({"distance": 0.1}, False),
    ],
)
def test_gp_limit(fields: dict[str, float], holds: bool) -> None:
    judgement = claims.get("gp_limit").judge(nets(**fields))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_gp_limit_looks_at_the_widest_net() -> None:
    made = nets()
    made["ks_distance"] = np.where(WIDTHS < 256, 1.0, 0.01)
    assert claims.get("gp_limit").judge(made).holds is True  # type: ignore[arg-type]
    made["ks_distance"] = np.where(WIDTHS < 256, 0.01, 1.0)
    assert claims.get("gp_limit").judge(made).holds is False  # type: ignore[arg-type]


def flows(loss: float = 1e-20, distance: float = 1e-9, apart: float = 1e-9) -> Made:
    """Two depths, two seeds; the last flow ends as given, the others well."""

    def ending(end: float, good: float) -> Any:
        values = np.full((2, 2, 3), good) * [1 / good, 0.1 / good, 1.0]
        values[1, 1, -1] = end
        return values

    ends = {"train_loss": ending(loss, 1e-20), "test_distance": ending(distance, 1e-9)}
    methods = np.full((2, 2, 3), 1e-10)
    methods[1, 1, 1] = apart  # in the middle
    return Made({"kernel.depth": np.array([3, 5]), "seed": np.array([0, 1]), **ends, "methods_apart": methods})


@pytest.mark.parametrize(
    ("fields", "holds"),
    [({}, True), ({"loss": 1e-3}, False), ({"distance": 1e-3}, False), ({"apart": 1e-3}, False)],
)
def test_flow_interpolant(fields: dict[str, float], holds: bool) -> None:
    judgement = claims.get("flow_interpolant").judge(flows(**fields))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


@pytest.mark.parametrize(
    ("accuracy", "holds"),
    [
        ([[0.951, 0.953], [0.949, 0.9495]], True),
        ([[0.951, 0.953], [0.949, 0.9545]], False),
        ([[0.805, 0.951]], False),
    ],
)
def test_mnist_depth(accuracy: list[list[float]], holds: bool) -> None:
    kinds = np.array(["nngp", "ntk"][: len(accuracy)])
    made = Made({"kernel.kind": kinds, "kernel.depth": np.array([2, 5]), "test_accuracy": np.array(accuracy)})
    judgement = claims.get("mnist_depth").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_mnist_depth_says_what_to_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMLAB_DATA", raising=False)
    without = claims.get("mnist_depth").data_needed()
    assert without is not None
    for word in ("--data DIR", "SIMLAB_DATA", "train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        assert word in without
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    empty = claims.get("mnist_depth").data_needed()
    assert empty is not None
    assert str(tmp_path) in empty
    assert "\n" not in without + empty
