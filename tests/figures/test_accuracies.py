"""Accuracies are drawn for axes of numbers, words and whole tables; points that failed have no entry."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from simlab.figures import accuracies
from simlab.figures.words import point_label

TABLES = [json.dumps({"kind": "ntk", "depth": 3}), json.dumps({"kind": "laplace", "c": 1.0})]


class SyntheticResults(dict[str, Any]):
    """Results made up of two axes, the point (0, 1) failed."""

    def __init__(self, first: list[Any], last: list[Any]) -> None:
        super().__init__({"kernel.depth": np.array(first), "last": np.array(last), "lambda": np.array([1e-3, 1e-2])})
        dims, shape = ("kernel.depth", "last"), (len(first), len(last))
        accuracy = np.full(shape, 0.9)
        accuracy[0, 1] = np.nan
        self.dims = {"test_accuracy": dims, "test_spread": dims, "validation_accuracy_by_ridge": (*dims, "lambda")}
        self |= {"test_accuracy": accuracy, "test_spread": 0.01 + 0 * accuracy}
        self["validation_accuracy_by_ridge"] = np.repeat(accuracy[..., np.newaxis], 2, axis=2)

    def select(self, name: str, at: dict[str, Any]) -> Any:
        chosen = {key: int(np.flatnonzero(self[key] == value)[0]) for key, value in at.items()}
        return self[name][tuple(chosen.get(dim, slice(None)) for dim in self.dims[name])]


@pytest.mark.parametrize(
    ("last", "scale", "ticks", "connected"),
    [
        (TABLES, "linear", ["ntk 3", "laplace 1"], False),
        ([2, 5], "linear", ["2", "5"], True),
        ([100, 10000], "log", ["100", "10000"], True),
    ],
)
def test_the_last_axis(last: list[Any], scale: str, ticks: list[str], connected: bool) -> None:
    figure = accuracies.draw(accuracies.Params(), SyntheticResults([2, 3], last))  # type: ignore[arg-type]
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
