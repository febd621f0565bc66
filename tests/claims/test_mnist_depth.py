"""MNIST and depth: accuracies of all depths near each other; without the data it says what to give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simlab.claims.mnist_depth import MNISTDepth
from tests.support.claim_results import assert_judged
from tests.support.stand_in_results import StandInResults


@pytest.mark.parametrize(
    ("accuracy", "holds"),
    [
        ([[0.951, 0.953], [0.949, 0.9495]], True),
        ([[0.951, 0.953], [0.949, 0.9545]], False),
        ([[0.805, 0.951]], False),
    ],
)
def test_judge(accuracy: list[list[float]], holds: bool) -> None:
    coords = {"kernel.kind": ["nngp", "ntk"][: len(accuracy)], "kernel.depth": [2, 5]}
    assert_judged("mnist_depth", StandInResults(coords, {"test_accuracy": np.array(accuracy)}), holds)


def test_what_to_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMLAB_DATA", raising=False)
    without = MNISTDepth().data_needed()
    assert without is not None
    for word in ("--data DIR", "SIMLAB_DATA", "train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        assert word in without
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    empty = MNISTDepth().data_needed()
    assert empty is not None
    assert str(tmp_path) in empty
    assert "\n" not in without + empty
