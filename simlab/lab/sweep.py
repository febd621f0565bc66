"""The sweep language: axes → points.

::

    [sweep]
    "network.width" = [50, 100, 200]               # an axis: a dotted key of the spec and its values
    "flow.alpha" = { logspace = [0, 3, 13] }       # 10^0 … 10^3 in 13 values; also linspace, geomspace, range
    network = [{ kind = … }, { kind = … }]         # an axis of whole tables (its coordinate: their JSON) or names
    seeds = 10                                     # ten repetitions, the dimension "seed"
    zip = [["flow.step", "flow.alpha"]]            # these axes advance together: one dimension, several coordinates,
                                                   # named by the first, the only one that may have no value twice
    independent = ["network.width"]                # this axis's value is mixed into the random streams

A point is one index over all dimensions, the last one fastest. At most 10,000,000 points, 2,000,000 values in all axes
together and 24 dimensions.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.parsing import whole
from simlab.core.rng import Streams
from simlab.core.words import toml
from simlab.record.collate import Dimension

WORDS = ("seeds", "zip", "independent")
GENERATORS = ("linspace", "logspace", "geomspace", "range")
MOST_POINTS = 10_000_000
MOST_VALUES = 2_000_000
"""Of all axes together. They are held in memory, and spec.toml lists each of them."""
MOST_KEYS = 1000
MOST_DIMENSIONS = 24
"""HDF5 allows 32, and a recorded array has some of its own."""
MOST_KEY_PARTS = 10  # between the dots


@dataclass(frozen=True)
class Sweep:
    """The axes of a sweep.

    axes: dotted key → its values.
    groups: keys that advance together, one group per dimension; the first key names the dimension.
    seeds: number of repetitions; None: there is no dimension "seed".
    independent: keys whose value is mixed into the random streams.
    """

    axes: dict[str, list[Any]]
    groups: tuple[tuple[str, ...], ...]
    seeds: int | None
    independent: tuple[str, ...]

    @classmethod
    def parse(cls, table: dict[str, Any] | None) -> Sweep:
        """Validate a [sweep] table; None stands for one that is not there."""
        if table is None:
            return cls({}, (), None, ())
        if not table:
            raise BadInput('[sweep]: empty; give an axis such as "network.width" = [50, 100] or leave the table out')
        axes = _axes(table)
        seeds = whole(table.get("seeds"))
        if seeds is not None and (type(seeds) is not int or not 1 <= seeds <= MOST_POINTS):
            raise BadInput(f"sweep.seeds = {shown(seeds)}: must be a whole number from 1 to {MOST_POINTS}")
        zipped = _groups(table.get("zip", []), axes)
        independent = table.get("independent", [])
        if not isinstance(independent, list) or not all(isinstance(key, str) and key in axes for key in independent):
            raise BadInput(f"sweep.independent = {shown(independent)}: must list axes of this sweep ({one_of(axes)})")
        groups: list[tuple[str, ...]] = []
        seen: set[str] = set()
        for key in axes:
            if key not in seen:
                group = next((g for g in zipped if key in g), (key,))
                groups.append(group)
                seen.update(group)
                # The first key of a group names the dimension; others may repeat a value, as min(10, 0.1/τ²) does.
                if not _distinct(axes[group[0]]):
                    raise BadInput(f"sweep.{group[0]} = {_short(axes[group[0]])}: a value is there twice")
        sweep = cls(axes, tuple(groups), seeds, tuple(independent))
        if sweep.points > MOST_POINTS:
            raise BadInput(f"[sweep]: {shown(sweep.points)} points; at most {MOST_POINTS} in one run")
        if len(sweep.sizes) > MOST_DIMENSIONS:
            raise BadInput(f"[sweep]: {len(sweep.sizes)} dimensions; at most {MOST_DIMENSIONS} in one run")
        return sweep

    def dump(self) -> dict[str, Any]:
        """The table that `parse` reads back, every axis listed by value."""
        table: dict[str, Any] = dict(self.axes)
        if self.seeds is not None:
            table["seeds"] = self.seeds
        if zipped := [list(group) for group in self.groups if len(group) > 1]:
            table["zip"] = zipped
        if self.independent:
            table["independent"] = list(self.independent)
        return table

    @property
    def keys(self) -> list[str]:
        """The dotted keys of all axes."""
        return list(self.axes)

    @cached_property
    def dimensions(self) -> list[Dimension]:
        """Dimensions of results.h5 with their coordinates, the seed last."""
        found = []
        for group in self.groups:
            coords = {key: [_coordinate(value) for value in self.axes[key]] for key in group}
            found.append(Dimension(group[0], len(self.axes[group[0]]), coords))
        if self.seeds is not None:
            found.append(Dimension("seed", self.seeds, {"seed": list(range(self.seeds))}))
        return found

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values along each dimension."""
        return (*(len(self.axes[group[0]]) for group in self.groups), *([] if self.seeds is None else [self.seeds]))

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Per dimension: the difference of the numbers of two points that are neighbours along it."""
        return tuple(math.prod(self.sizes[i + 1 :]) for i in range(len(self.sizes)))

    @property
    def points(self) -> int:
        """Number of points."""
        return math.prod(self.sizes)

    def position(self, point: int) -> tuple[int, ...]:
        """The index of a point along each dimension."""
        found = []
        for size in reversed(self.sizes):
            point, here = divmod(point, size)
            found.append(here)
        return tuple(reversed(found))

    def values(self, point: int) -> dict[str, Any]:
        """Dotted key → value, for the keys that are swept."""
        return {
            key: self.axes[key][index]
            for group, index in zip(self.groups, self.position(point), strict=False)
            for key in group
        }

    def combination(self, point: int) -> int:
        """The number of the combination of values: points that differ only in their seed have the same."""
        return point // (self.seeds or 1)

    def seed_index(self, point: int) -> int:
        """Which repetition a point is, counted from 0."""
        return self.position(point)[-1] if self.seeds is not None else 0

    def streams(self, root_seed: int, point: int) -> Streams:
        """The random streams of a point."""
        values = self.values(point)
        return Streams(root_seed, self.seed_index(point), {key: values[key] for key in self.independent})

    def label(self, point: int) -> str:
        """``network.width=50 seed=3``, for people."""
        parts = [f"{key}={_short(value)}" for key, value in self.values(point).items()]
        if self.seeds is not None:
            parts.append(f"seed={self.seed_index(point)}")
        return " ".join(parts) or "the only point"

    def point(self, index: Iterable[int]) -> int:
        """The point at this index along each dimension; 0 along those that are left out at the end."""
        return sum(i * stride for i, stride in zip(index, self.strides, strict=False))

    def representatives(self, most: int, dimensions: Collection[int] | None = None) -> Iterator[int]:
        """Points that stand for all, each once: every value of every axis, then combinations; seeds do not matter.

        Of more than `most` values or combinations a fifth as many are taken: the first, the last, the least, the
        largest, and others as if at random, the same at every call.

        dimensions: those that matter, by number; of the others the first value is taken.
        """
        chosen = [i for i in range(len(self.groups)) if dimensions is None or i in dimensions]
        # The point of index 0 is there also where no dimension matters.
        index = [0] * len(self.groups)
        seen = {tuple(index)}
        yield 0
        for i in chosen:
            for at in self._some(i, most):
                index[i] = at
                if (here := tuple(index)) not in seen:
                    seen.add(here)
                    yield self.point(here)
            index[i] = 0
        for combination in _combinations([self.sizes[i] for i in chosen], most):
            for i, at in zip(chosen, combination, strict=True):
                index[i] = at
            if (here := tuple(index)) not in seen:
                seen.add(here)
                yield self.point(here)

    def _some(self, dimension: int, most: int) -> Iterable[int]:
        """At most `most` values of a dimension, or a few more, by index."""
        size = self.sizes[dimension]
        if size <= most:
            return range(size)
        ends = [0, size - 1]
        for key in self.groups[dimension]:
            values = self.axes[key]
            if all(isinstance(value, int | float) for value in values):
                ends += [values.index(min(values)), values.index(max(values))]
        return sorted({*ends, *random.Random(0).sample(range(size), most // 5)})


def flat(table: dict[str, Any], at: str = "") -> dict[str, Any]:
    """Axes written without quotes (network.width = […]) arrive as nested tables: the same key."""
    found: dict[str, Any] = {}
    if at.count(".") >= MOST_KEY_PARTS:
        raise BadInput(f"sweep.{at}: an axis is a dotted key of at most {MOST_KEY_PARTS} parts")
    if len(table) > MOST_KEYS:
        raise BadInput(f"sweep{'.' if at else ''}{at}: {len(table)} keys; at most {MOST_KEYS}")
    for name, value in table.items():
        key = f"{at}.{name}" if at else name
        if isinstance(value, dict) and not (len(value) == 1 and next(iter(value)) in GENERATORS):
            like = next((w for w in value if nearest(w, GENERATORS, 0.75)), None)
            if not value or like:
                hint = nearest(like, GENERATORS) if like else ""
                raise BadInput(
                    f"sweep.{key} = {shown(value)}: must be a list or {{ one of {one_of(GENERATORS)} }}{hint}"
                )
            inner = flat(value, key)
        else:
            inner = {key: value}
        if twice := next((k for k in inner if k in found), None):
            raise BadInput(f"sweep.{twice}: given twice")
        found |= inner
    return found


def _axes(table: dict[str, Any]) -> dict[str, list[Any]]:
    axes = {key: _values(key, value) for key, value in flat(table).items() if key not in WORDS}
    if deep := next((key for key in axes if key.count(".") >= MOST_KEY_PARTS), None):
        raise BadInput(f"sweep.{deep}: an axis is a dotted key of at most {MOST_KEY_PARTS} parts")
    if (count := sum(map(len, axes.values()))) > MOST_VALUES:
        raise BadInput(f"[sweep]: {count} values in all axes; at most {MOST_VALUES} in one run")
    return axes


def _combinations(sizes: list[int], most: int) -> Iterator[tuple[int, ...]]:
    """Indices over dimensions of these sizes: all of them, or of more than `most` a fifth as many, as if at random."""
    if (total := math.prod(sizes)) <= most:
        yield from itertools.product(*map(range, sizes))
        return
    for place in random.Random(0).sample(range(total), most // 5):
        found = []
        for size in reversed(sizes):
            place, here = divmod(place, size)
            found.append(here)
        yield tuple(reversed(found))


def _values(key: str, given: Any) -> list[Any]:
    parts = isinstance(given, list) and all(isinstance(value, dict | str) for value in given)
    whole = parts and key != "experiment"
    if "." not in key and not whole:
        raise BadInput(
            f"sweep.{key} = {shown(given)}: unknown; an axis is a dotted key such as network.width"
            f" (other words: {one_of(WORDS)})"
        )
    if isinstance(given, dict):
        word, numbers = next(iter(given.items()))
        given = _generate(f"sweep.{key}", word, numbers)
    if not isinstance(given, list):
        raise BadInput(f"sweep.{key} = {shown(given)}: must be a list of values or {{ one of {one_of(GENERATORS)} }}")
    if not given:
        raise BadInput(f"sweep.{key} = []: empty; give at least one value")
    return given


def _distinct(values: list[Any]) -> bool:
    if set(map(type, values)) <= {str, int, float} and len(set(values)) == len(values):  # 3 s less for a million
        nan = [value for value in values if value != value]
        return len(nan) < 2
    try:
        words = {json.dumps(float(v) if type(v) is int and abs(v) < 1 << 53 else v, default=str) for v in values}
    except ValueError:  # an integer of 5000 digits, which no field takes
        return True
    return len(words) == len(values)


def _generate(key: str, word: str, numbers: Any) -> list[Any]:
    real = isinstance(numbers, list) and all(type(n) in (int, float) and abs(n) < 1e300 for n in numbers)
    if not real or not (len(numbers) == 3 or (word == "range" and 1 <= len(numbers) <= 3)):
        raise BadInput(f"{key} = {{ {word} = {shown(numbers)} }}: must be three numbers, [first, last, how many]")
    if word == "range":
        numbers = whole(numbers)
        if not all(type(n) is int for n in numbers) or (len(numbers) == 3 and numbers[2] == 0):
            raise BadInput(f"{key} = {{ range = {shown(numbers)} }}: must be whole numbers, [start, stop, step ≠ 0]")
        found = range(*numbers)
        if (found.stop - found.start) // found.step > MOST_VALUES:  # len has no more than 64 bits
            raise BadInput(f"{key} = {{ range = {shown(numbers)} }}: at most {MOST_VALUES} values")
        return list(found)
    first, last, count = numbers[0], numbers[1], whole(numbers[2])
    if type(count) is not int or not 1 <= count <= MOST_VALUES:
        raise BadInput(
            f"{key} = {{ {word} = {shown(numbers)} }}: how many must be a whole number from 1 to {MOST_VALUES}"
        )
    if word == "geomspace" and min(first, last) <= 0 <= max(first, last):
        raise BadInput(f"{key} = {{ geomspace = {shown(numbers)} }}: both ends must have one sign and not be 0")
    with np.errstate(over="ignore"):
        values = getattr(np, word)(float(first), float(last), count)
    if not np.all(np.isfinite(values)):
        raise BadInput(f"{key} = {{ {word} = {shown(numbers)} }}: overflows")
    found_values: list[float] = values.tolist()
    return found_values


def _groups(given: Any, axes: dict[str, list[Any]]) -> list[tuple[str, ...]]:
    if not isinstance(given, list) or not all(
        isinstance(g, list) and len(g) > 1 and all(isinstance(key, str) for key in g) for g in given
    ):
        raise BadInput(f'sweep.zip = {shown(given)}: must be a list of lists of axes, [["flow.step", "flow.alpha"]]')
    seen: set[str] = set()
    for group in given:
        for key in group:
            if key not in axes or key in seen:
                why = "is in two groups" if key in seen else f"is no axis of this sweep ({one_of(axes)})"
                raise BadInput(f"sweep.zip: {shown(key)} {why}")
            seen.add(key)
        lengths = {key: len(axes[key]) for key in group}
        if len(set(lengths.values())) > 1:
            raise BadInput(f"sweep.zip = {shown(group)}: axes of unequal length {shown(lengths)}")
    return [tuple(group) for group in given]


def _coordinate(value: Any) -> Any:
    """A number or a string; anything else as JSON."""
    return value if isinstance(value, bool | int | float | str) else json.dumps(value, default=str)


def _short(value: Any) -> str:
    if isinstance(value, list):
        value = value[:60]  # no more is shown
    elif type(value) is int and value.bit_length() > 1000:
        value = shown(value)
    text = f"{value:.6g}" if isinstance(value, float) else value if isinstance(value, str) else toml(value)
    return text if len(text) <= 60 else text[:57] + "…"
