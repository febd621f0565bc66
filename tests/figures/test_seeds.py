"""Seeds are a mean and a band; one that ends early ends the mean, and the others are seen to go on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from scipy import stats

from simlab.figures.seeds import course
from simlab.figures.style import panels

X = np.arange(5)


def axes() -> Axes:
    return panels(1)[1][0]


def drawn(line: Any) -> Any:
    return np.asarray(line.get_ydata())


def edges(axis: Axes) -> tuple[Any, Any]:
    """Least and largest y of the band at each x."""
    points = axis.collections[0].get_paths()[0].vertices
    low = [min(y for x, y in points if x == place) for place in X]  # type: ignore[misc]
    return np.array(low), np.array([max(y for x, y in points if x == place) for place in X])  # type: ignore[misc]


@pytest.mark.parametrize(("log", "mean"), [(False, np.mean), (True, stats.gmean)])
def test_mean_and_range(log: bool, mean: Any) -> None:
    values = np.random.default_rng(1).uniform(1, 9, (4, X.size))
    axis = axes()
    course(axis, [X] * 4, list(values), color="C0", label="width 3", log=log)
    (line,) = axis.lines
    np.testing.assert_allclose(drawn(line), mean(values, axis=0), rtol=1e-13)
    low, high = edges(axis)
    np.testing.assert_allclose(low, values.min(axis=0))
    np.testing.assert_allclose(high, values.max(axis=0))
    assert axis.get_legend_handles_labels()[1] == ["width 3", "band: range of 4 seeds"]


def test_of_many_seeds_the_middle() -> None:
    values = np.random.default_rng(1).uniform(1, 9, (11, X.size))
    axis = axes()
    course(axis, [X] * 11, list(values), color="C0", label="width 3")
    low, high = edges(axis)
    ordered = np.sort(values, axis=0)  # the 10 % quantile of eleven is the second of them
    np.testing.assert_allclose(low, ordered[1])
    np.testing.assert_allclose(high, ordered[9])
    assert axis.get_legend_handles_labels()[1][1] == "band: middle 80 % of 11 seeds"


def test_a_line_per_seed_where_asked() -> None:
    axis = axes()
    course(axis, [X] * 3, [X + i for i in range(3)], color="C0", label="width 3", seeds="lines")
    assert [drawn(line).tolist() for line in axis.lines] == [(X + i).tolist() for i in range(3)]
    assert not axis.collections
    assert axis.get_legend_handles_labels()[1] == ["width 3"]


def test_a_seed_that_ends_early_ends_the_mean() -> None:
    """Seeds 0, 10 and 20 above X; the second has three records. A mean of the other two would jump to 10 + X."""
    axis = axes()
    curves = [X + 0.0, X[:3] + 10.0, X + 20.0]
    course(axis, [X, X[:3], X], curves, color="C0", label="width 3")
    mean, *rest, cross = axis.lines
    assert drawn(mean).tolist() == [10.0, 11.0, 12.0]
    assert [(np.asarray(line.get_xdata()).tolist(), drawn(line).tolist()) for line in rest] == [
        ([2, 3, 4], [2.0, 3.0, 4.0]),
        ([2, 3, 4], [22.0, 23.0, 24.0]),
    ]
    assert cross.get_marker() == "x"
    assert (np.asarray(cross.get_xdata()).tolist(), drawn(cross).tolist()) == ([2], [12.0])
    assert axis.get_legend_handles_labels()[1][-1] == "×: a seed ends, others go on"


def test_seeds_recorded_at_different_places_have_no_mean() -> None:
    axis = axes()
    course(axis, [X, X + 0.5], [X, X], color="C0", label="width 3")
    assert len(axis.lines) == 2
    assert not axis.collections


def test_where_a_seed_is_not_positive_a_log_axis_has_no_mean() -> None:
    axis = axes()
    course(axis, [X, X], [np.array([1.0, 1, 0, 1, np.inf]), np.full(5, 4.0)], color="C0", label=None, log=True)
    np.testing.assert_array_equal(drawn(axis.lines[0]), [2.0, 2.0, np.nan, 2.0, np.nan])
