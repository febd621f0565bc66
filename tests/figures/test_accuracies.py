"""Accuracies are drawn for axes of numbers, words and whole tables; points that failed have no entry."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from simlab import figures
from simlab.figures.words import point_label
from tests.support.stand_in_results import StandInResults

TABLES = [json.dumps({"kind": "ntk", "depth": 3}), json.dumps({"kind": "laplace", "c": 1.0})]


def accuracies(first: list[Any], last: list[Any]) -> StandInResults:
    """Two axes; the point (0, 1) failed."""
    accuracy = np.full((len(first), len(last)), 0.9)
    accuracy[0, 1] = np.nan
    return StandInResults(
        {"kernel.depth": first, "last": last, "lambda": [1e-3, 1e-2]},
        {
            "test_accuracy": accuracy,
            "test_spread": 0.01 + 0 * accuracy,
            "validation_accuracy_by_ridge": np.repeat(accuracy[..., np.newaxis], 2, axis=2),
        },
    )


@pytest.mark.parametrize(
    ("last", "scale", "ticks", "connected"),
    [
        (TABLES, "linear", ["ntk 3", "laplace 1"], False),
        ([2, 5], "linear", ["2", "5"], True),
        ([100, 10000], "log", ["100", "10000"], True),
    ],
)
def test_the_last_axis(last: list[Any], scale: str, ticks: list[str], connected: bool) -> None:
    figure = figures.get("accuracies").draw(accuracies([2, 3], last))
    figure.draw_without_rendering()
    left, right = figure.axes
    assert left.get_xscale() == scale
    assert [text.get_text() for text in left.get_xticklabels()] == ticks
    lines = [container.lines[0] for container in left.containers]  # type: ignore[attr-defined]
    assert all((line.get_linestyle() == "-") is connected for line in lines)
    first, second = (np.asarray(line.get_xdata()) for line in lines)
    assert np.all(first < second), "bars of two lines do not hide each other"
    labels = [text.get_text() for text in right.get_legend().get_texts()]
    name = (lambda value: point_label(["last"], [value])) if connected else (lambda value: point_label([""], [value]))
    assert labels == [f"depth 2, {name(last[0])}", f"depth 3, {name(last[0])}", f"depth 3, {name(last[1])}"]


def test_labels_of_points() -> None:
    assert point_label(["kernel.kind", "kernel.depth"], ["nngp", 2]) == "nngp, depth 2"
    assert point_label(["kernel", "experiment.test_samples"], [TABLES[0], 5]) == "ntk 3, test samples 5"
    assert point_label([], []) == ""
