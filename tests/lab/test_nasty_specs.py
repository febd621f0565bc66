"""Specs that nobody should write: one line for each, quickly, without gigabytes."""

from __future__ import annotations

import contextlib
import datetime
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.cli import running
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.lab import needs
from simlab.lab.differences import differences
from simlab.lab.estimate import estimate
from simlab.lab.spec import load, override, resolve
from simlab.lab.sweep import MOST_VALUES, Sweep
from simlab.lab.tables import MOST_BYTES, plain, read_file


def one_line(error: pytest.ExceptionInfo[BadInput]) -> str:
    line = str(error.value)
    assert len(line) < 500
    assert line.isprintable()
    return line


def example(kind: str = "gradient_flow", at: int = 0) -> dict[str, Any]:
    tables: dict[str, Any] = plain(catalogue.examples("experiments", kind)[at])
    tables["experiment"]["seed"] = 1
    return tables


@pytest.mark.parametrize(
    "numbers",
    [[2**70], [0, 2**64, 1], [-(2**70), 2**70, 3], [0, -(10**30), -1], [0, 10**4000], [10**7]],
)
def test_ranges_beyond_64_bits(numbers: list[int]) -> None:
    with pytest.raises(BadInput, match=r"sweep\.a\.b") as error:
        Sweep.parse({"a.b": {"range": numbers}})
    one_line(error)


@pytest.mark.parametrize("word", ["linspace", "logspace", "geomspace"])
@pytest.mark.parametrize("count", [10**18, 10**4000, MOST_VALUES + 1, 1e30, float("inf"), True, "3"])
def test_too_many_values(word: str, count: Any) -> None:
    with pytest.raises(BadInput, match=r"^sweep\.a\.b = ") as error:
        Sweep.parse({"a.b": {word: [1, 2, count]}})
    one_line(error)


def test_values_in_all_axes_are_counted_and_so_are_dimensions() -> None:
    half = {"range": [MOST_VALUES // 2 + 1]}
    with pytest.raises(BadInput, match="values in all axes"):
        Sweep.parse({"a.b": half, "a.c": half, "zip": [["a.b", "a.c"]]})
    with pytest.raises(BadInput, match="25 dimensions"):
        Sweep.parse({f"a.b{i}": [1] for i in range(25)})
    assert Sweep.parse({"a.b": [1e-200, 2e-200]}).points == 2
    assert Sweep.parse({"a.b": {"geomspace": [1e-200, 1e-190, 3]}}).points == 3  # their product is 0 in float64


def test_values_twice_among_many() -> None:
    rng = random.Random(0)
    for twice in (0.0, 5, 2**60, float("nan"), "x"):
        values: list[Any] = [rng.random() + i for i in range(5000)]
        values[17] = values[4321] = twice
        with pytest.raises(BadInput, match="a value is there twice"):
            Sweep.parse({"a.b": values})
    assert Sweep.parse({"a.b": [0.0, -0.0, "0.0", 1, "1"]}).points == 5  # as they always were
    with pytest.raises(BadInput, match="twice"):
        Sweep.parse({"a.b": [1, 2, 1.0]})
    with pytest.raises(BadInput, match=r"network\.width = \(about 2\^16609\)"):
        resolve({**example(), "sweep": {"network.width": [10**5000, 0.0, [1.0, "a"]]}})


@pytest.mark.parametrize("deep", [40, 900, 100_000])
def test_tables_inside_tables(deep: int) -> None:
    inner: Any = 1
    for _ in range(deep):
        inner = {"x": inner}
    for tables in ({**example(), "network": inner}, {**example(), "sweep": inner}, {**example(), "figure": inner}):
        with pytest.raises(BadInput, match="deep") as error:
            resolve(tables)
        one_line(error)
    with pytest.raises(BadInput, match="deep"):
        override({"x": inner}, ())
    with pytest.raises(BadInput, match="deep"):
        plain({"x": inner})
    with pytest.raises(BadInput, match="at most 10 parts"):
        Sweep.parse({"network" + ".x" * deep: [1, 2]})


def test_a_table_that_holds_itself() -> None:
    tables = example()
    tables["network"]["network"] = tables
    for function in (resolve, plain):
        with pytest.raises(BadInput, match="deep"):
            function(tables)


KEYS = ["", "x" * 10**5, "a\nb", "\x1b[31m", "é", "a.b", "\u202e", '"', "kind "]


@pytest.mark.parametrize("key", KEYS)
def test_keys(key: str) -> None:
    for tables in (
        {**example(), key: {"kind": "x"}},
        {**example(), "network": {**example()["network"], key: 1}},
        {**example(), "sweep": {key: [1, 2]}},
        {**example(), "sweep": {"network.width": [1, 2], "zip": [[key, key]]}},
        {**example(), "network": {"kind": key}},
    ):
        with pytest.raises(BadInput) as error:
            resolve(tables)
        one_line(error)


VALUES = [
    10**5000, -(10**5000), 2**63, float("inf"), float("nan"), "1", "x" * 10**5, "\x1b[2J", True, [], [[]], {},
    {"kind": 3}, datetime.date(1979, 5, 27), datetime.time(1, 2), datetime.datetime(2020, 1, 1), list(range(5000)),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("key", ["experiment.samples", "data.dim", "network.width", "flow.step", "flow.steps"])
def test_values_that_are_no_numbers(key: str, value: Any) -> None:
    table, name = key.split(".")
    tables = example()
    tables[table] = {**tables[table], name: value}
    with pytest.raises(BadInput, match=key) as error:
        resolve(tables)
    one_line(error)
    tables = example()
    with pytest.raises(BadInput, match=key) as error:
        resolve({**tables, "sweep": {key: [tables[table][name], value]}})
    one_line(error)


def test_masked_entries_are_not_stripped() -> None:
    with pytest.raises(BadInput, match="masked"):
        plain({"sweep": {"network.width": np.ma.masked_array([1, 2, 3], [False, True, False])}})
    assert plain({"a": np.ma.masked_array([1, 2], [False, False])}) == {"a": [1, 2]}


def test_a_pipe_a_device_a_directory_and_a_large_file_are_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    large = tmp_path / "large.toml"
    with open(large, "wb") as file:
        file.truncate(MOST_BYTES + 1)
    for path, why in [(pipe, "regular"), (Path("/dev/zero"), "regular"), (tmp_path, "directory"), (large, "bytes")]:
        with pytest.raises(BadInput, match=why) as error:
            read_file(path)
        assert str(path)[:50] in one_line(error)
    with pytest.raises(BadInput, match="no such file"):
        read_file(str(tmp_path / "a\0b"))
    deep = tmp_path / "\x1b[31mdeep.toml"
    deep.write_text("x = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(BadInput, match=r"deep\.toml: TOML too large") as error:
        load(deep)
    one_line(error)


def test_a_mark_of_byte_order_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_file(path)[0] == {"a": 1}


def test_differences_of_long_axes_are_short() -> None:
    old, new = (resolve({**example(), "sweep": {"flow.alpha": {"linspace": [1, last, 5000]}}}) for last in (2, 3))
    (line,) = differences(old, new)
    assert line.startswith("sweep.flow.alpha: [1.0, ")
    assert len(line) < 300


SIZES = [
    ("spectrum", "experiment.max_degree"),
    ("tangent_width", "experiment.draws"),
    ("tangent_width", "experiment.points"),
    ("cube_bound", "experiment.targets"),
    ("learning_curve", "experiment.power_degree"),
    ("gradient_flow", "experiment.samples"),
    ("gradient_flow", "experiment.records"),
    ("gradient_flow", "data.dim"),
    ("gradient_flow", "network.width"),
    ("gradient_flow", "flow.steps"),
    ("gradient_flow", "target.neurons"),
]


@pytest.mark.parametrize(("kind", "key"), SIZES)
@pytest.mark.parametrize("size", [10**7, 10**9, 10**12, 2**62])
def test_sizes_are_weighed_not_allocated(kind: str, key: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size: no array of more than 10⁷ numbers is made while a spec is checked."""
    made = _largest_array(monkeypatch)
    table, name = key.split(".")
    tables = example(kind)
    tables[table] = {**tables[table], name: size}
    with contextlib.suppress(BadInput):
        spec = resolve(tables)
        running.figure_of(spec)
        needs.check(spec)
        estimate(spec, 1)
    assert made[0] <= 1.1e7


def _largest_array(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The most numbers that were asked of NumPy at a time; more than 2·10⁷ are not given."""
    made = [0]

    def watched(real: Any, count: Any) -> Any:
        def function(*args: Any, **options: Any) -> Any:
            made[0] = max(made[0], int(count(*args)))
            assert made[0] < 2e7
            return real(*args, **options)

        return function

    for name in ("zeros", "empty", "ones"):
        monkeypatch.setattr(np, name, watched(getattr(np, name), lambda shape, *rest: np.prod(np.array(shape, float))))
    monkeypatch.setattr(
        np, "arange", watched(np.arange, lambda *args: args[0] if len(args) == 1 else args[1] - args[0])
    )
    return made
