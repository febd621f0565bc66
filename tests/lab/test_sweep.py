"""The sweep language: from axes to points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.core.errors import BadInput
from simlab.lab.sweep import Sweep


@given(
    st.dictionaries(
        st.sampled_from(["a.x", "a.y", "b.z"]), st.lists(st.integers(-99, 99), min_size=1, max_size=4, unique=True)
    ),
    st.one_of(st.none(), st.integers(1, 4)),
)
def test_points_are_the_product_in_row_major_order(axes: dict[str, list[int]], seeds: int | None) -> None:
    table: dict[str, Any] = dict(axes) | ({} if seeds is None else {"seeds": seeds})
    sweep = Sweep.parse(table or None)
    grid = list(np.ndindex(sweep.sizes))
    assert sweep.points == len(grid)
    for point in range(sweep.points):
        values = list(sweep.values(point).items())
        assert values == [(key, axes[key][grid[point][i]]) for i, key in enumerate(axes)]
        assert sweep.seed_index(point) == (0 if seeds is None else grid[point][-1])
    assert Sweep.parse(sweep.dump() or None) == sweep


def test_generators() -> None:
    sweep = Sweep.parse(
        {
            "f.a": {"logspace": [0, 3, 13]},
            "f.b": {"linspace": [0, 1, 5]},
            "f.c": {"geomspace": [1, 16, 5]},
            "f.d": {"range": [2, 8, 3]},
        }
    )
    assert np.allclose(sweep.axes["f.a"], 10.0 ** np.linspace(0, 3, 13), rtol=1e-15)
    assert sweep.axes["f.b"] == [0, 0.25, 0.5, 0.75, 1]
    assert np.allclose(sweep.axes["f.c"], [1, 2, 4, 8, 16], rtol=1e-15)
    assert sweep.axes["f.d"] == [2, 5]


def test_zipped_axes_are_one_dimension_with_several_coordinates() -> None:
    sweep = Sweep.parse({"f.a": [1, 2, 3], "n.w": [10, 20], "f.b": [0.1, 0.2, 0.3], "zip": [["f.a", "f.b"]]})
    assert sweep.sizes == (3, 2)
    assert [(d.name, list(d.coords)) for d in sweep.dimensions] == [("f.a", ["f.a", "f.b"]), ("n.w", ["n.w"])]
    assert [sweep.values(p) for p in (0, 3)] == [
        {"f.a": 1, "f.b": 0.1, "n.w": 10},
        {"f.a": 2, "f.b": 0.2, "n.w": 20},
    ]


def test_zipped_axes_may_stay_at_a_value_but_for_the_first() -> None:
    table = {"f.step": [10.0, 10.0, 2.5], "n.std": [0.05, 0.1, 0.2], "zip": [["n.std", "f.step"]]}
    sweep = Sweep.parse(table)
    assert [sweep.values(point)["f.step"] for point in range(3)] == [10.0, 10.0, 2.5]
    assert Sweep.parse(sweep.dump()) == sweep
    with pytest.raises(BadInput, match=r"sweep\.f\.step = .*: a value is there twice"):
        Sweep.parse({**table, "zip": [["f.step", "n.std"]]})


def test_unquoted_axes_mean_the_same() -> None:
    assert Sweep.parse({"network": {"width": [1, 2]}, "flow": {"alpha": {"linspace": [0, 1, 2]}}}) == Sweep.parse(
        {"network.width": [1, 2], "flow.alpha": [0.0, 1.0]}
    )


def test_streams_are_shared_unless_the_axis_is_independent() -> None:
    shared = Sweep.parse({"flow.alpha": [1.0, 2.0], "seeds": 2})
    draws = [shared.streams(7, point)["data"].random() for point in range(4)]
    assert draws[0] == draws[2] != draws[1] == draws[3]
    mixed = Sweep.parse({"flow.alpha": [1.0, 2.0], "seeds": 2, "independent": ["flow.alpha"]})
    assert len({mixed.streams(7, point)["data"].random() for point in range(4)}) == 4


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "[sweep]: empty"),
        ({"network.width": []}, "sweep.network.width = []: empty"),
        ({"seeds": 0}, "sweep.seeds = 0"),
        ({"seeds": True}, "sweep.seeds = True"),
        ({"seeds": 2.5}, "sweep.seeds = 2.5"),
        ({"network.width": 5}, "sweep.network.width = 5: must be a list"),
        ({"width": [5]}, "sweep.width = [5]: unknown"),
        ({"network.width": [5, 5]}, "there twice"),
        ({"a.b": {"logspace": [0, 1]}}, "three numbers"),
        ({"a.b": {"logspace": [0, 1, 0]}}, "whole number from 1"),
        ({"a.b": {"logspace": [0, 400, 3]}}, "overflows"),
        ({"a.b": {"geomspace": [-1, 1, 3]}}, "one sign"),
        ({"a.b": {"range": [5, 1]}}, "sweep.a.b = []: empty"),
        ({"a.b": [1, 2], "a.c": [1], "zip": [["a.b", "a.c"]]}, "unequal length"),
        ({"a.b": [1, 2], "zip": [["a.b", "a.c"]]}, "'a.c' is no axis"),
        ({"a.b": [1], "a.c": [1], "zip": ["a.b", "a.c"]}, "list of lists"),
        ({"a.b": [1], "independent": ["a.c"]}, "sweep.independent"),
        ({"a.b": {"range": [10_000]}, "a.c": {"range": [10_000]}}, "at most"),
        ({"seeds": 10**10}, "sweep.seeds = 10000000000"),
        ({"a.b": {"range": [10**12]}}, "at most"),
        ({"a.b": {"linspace": [0, 1, 10**12]}}, "whole number from 1"),
        ({"a.b": {"linspace": [0, 10**400, 3]}}, "three numbers"),
        ({"a.b": [1, 1.0]}, "there twice"),
        ({"a.b": [1], "a": {"b": [2]}}, "sweep.a.b: given twice"),
        ({"a.b": {"logspce": [0, 3, 3]}}, 'did you mean "logspace"?'),
        ({"a.b": {"logspace": [0, 1, 2], "linspace": [0, 1, 2]}}, "must be a list or"),
        ({"a.b": [1], "independent": [["a.b"]]}, "sweep.independent"),
        ({"a.b": [1], "a.c": [1], "zip": [[["a.b"], ["a.c"]]]}, "list of lists"),
    ],
)
def test_bad_sweeps_are_named(table: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as caught:
        Sweep.parse(table)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
