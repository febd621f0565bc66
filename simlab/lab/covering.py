"""Learn something of every point of a sweep by asking at few of them.

Two points that differ only in fields that a function does not read give the same answer. So `covering` watches which
swept fields the function reads (`simlab.core.reads`), and calls it once per combination of those axes only. `check`
validates all points this way:

- every value of every axis by the rules of its own field, all values in one call;
- the rules between the fields of one table, and those of the experiment, at every combination of the axes that the
  rules read.

There may be too many combinations: more than CHECKED_TABLES of one table, or CHECKED_POINTS of the experiment. Then a
fifth as many combinations are taken, and a fifth as many values of each axis, the least and the largest among them. A
mistake that shows only at a combination that was left out is found later: that point fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from simlab.core import reads
from simlab.core.errors import BadInput
from simlab.core.kinds import Kind, Table
from simlab.core.parsing import choose, first_wrong, rooms_of
from simlab.core.reads import Reads
from simlab.lab.tables import with_values
from simlab.lab.toml_text import Tables

if TYPE_CHECKING:
    from simlab.experiments.experiment import Experiment
    from simlab.lab.spec import Spec

CHECKED_POINTS, CHECKED_TABLES = 10_000, 20_000  # 0.2 ms and 0.04 ms each
PROGRESS_POINTS = 1000  # between two calls of `progress`

T = TypeVar("T")


@dataclass(frozen=True)
class Cover(Generic[T]):
    """What a function gives at points that stand for all others.

    found: point → value.
    dimensions: the dimensions of the sweep that the value depends on, by number.
    """

    found: dict[int, T]
    dimensions: frozenset[int]


def covering(spec: Spec, function: Callable[[Experiment], T], most: int) -> Cover[T]:
    """Call a function of a point's experiment at points that stand for all others.

    most: number of combinations, and of values of one axis, that are looked at.
    """

    def call(point: int, watch: Reads) -> T:
        experiment = spec.at(point)
        watch.found.clear()  # what rules look at does not matter here
        watch.own.clear()
        return function(experiment)

    return _cover(spec, call, most, spec.sweep.keys)


def _cover(
    spec: Spec,
    call: Callable[[int, Reads], T],
    most: int,
    keys: Iterable[str],
    own: Callable[[str], bool] = lambda key: True,
    progress: Callable[[int], None] = lambda done: None,
) -> Cover[T]:
    """`call` a function of the point at points that stand for all others.

    keys: the axes that may matter.
    own: whether the rules of the table of this key count.
    progress: called now and then with the number of points done.
    """
    sweep, first = spec.sweep, spec.at(0)
    dimension = {key: i for i, group in enumerate(sweep.groups) for key in group if key in keys}
    needed = {i for key, i in dimension.items() if holder_of(first, key)[0] is None}
    found: dict[int, T] = {}
    with reads.watching(Table) as watch:

        def visit(point: int) -> set[int]:
            """Calls the function; returns the dimensions that were looked at."""
            watch.forget()
            found[point] = call(point, watch)
            return {i for key, i in dimension.items() if watch.looked_at(key, own(key))}

        while True:
            grown: set[int] = set()
            for point in sweep.representatives(most, needed):
                if point in found:
                    continue
                grown = visit(point) - needed
                if len(found) % PROGRESS_POINTS == 0:
                    progress(len(found))
                if grown:
                    break
            if not grown:
                return Cover(found, frozenset(needed))
            needed |= grown


def check(spec: Spec, progress: Callable[[int], None] = lambda done: None) -> None:
    """Refuse a spec of which a point is not as it should be.

    progress: called now and then with the number of points checked.
    """
    seen: set[tuple[str, type[Table]]] = set()
    keys = spec.sweep.keys
    if not keys:  # the first point, which is validated, stands for all
        return

    def whole_point(point: int, watch: Reads) -> None:
        experiment = spec.parse(point)
        for key in keys:
            holder, name = holder_of(experiment, key)
            if holder is not None and (key, type(holder)) not in seen:
                seen.add((key, type(holder)))
                _check_axis(spec, type(holder), name, key)

    _cover(spec, whole_point, CHECKED_POINTS, keys, lambda key: key.startswith("experiment."), progress)
    for table, room in rooms_of(spec.experiment_class).items():
        inside = [key for key in keys if key.startswith(f"{table}.")]
        if inside:
            _cover(spec, _table_parser(spec, table, room), CHECKED_TABLES, inside, progress=progress)


def _table_parser(spec: Spec, table: str, room: str) -> Callable[[int, Reads], None]:
    """A function that validates one table of a point."""

    def parse(point: int, watch: Reads) -> None:
        values = {key: value for key, value in spec.sweep.values(point).items() if key.partition(".")[0] == table}
        here: Tables = {table: spec.tables[table]} if table in spec.tables else {}
        choose(room, with_values(here, values)[table], table)

    return parse


def _check_axis(spec: Spec, cls: type[Table], name: str, key: str) -> None:
    sweep, values = spec.sweep, spec.sweep.axes[key]
    i = next(i for i, group in enumerate(sweep.groups) if key in group)

    def try_out(at: int) -> None:
        spec.parse(at * sweep.strides[i])

    try:
        wrong = first_wrong(cls, name, values)
    except TypeError:
        for at in range(len(values)):
            try_out(at)
        return
    if wrong is not None:
        try_out(wrong)
        raise BadInput(f"sweep.{key}: value number {wrong + 1} is not of use")


def holder_of(experiment: Kind, key: str) -> tuple[Kind | None, str]:
    """The kind and its field that a dotted key names; None for the kind where that is no field, or holds a kind."""
    *path, name = key.removeprefix("experiment.").split(".")
    here: Any = experiment
    for part in path:
        here = getattr(here, part) if isinstance(here, Kind) and part in type(here).model_fields else None
    good = isinstance(here, Kind) and name in type(here).model_fields and name not in rooms_of(type(here))
    return (here, name) if good and "." in key else (None, name)


def alike(spec: Spec, point: int, dimensions: frozenset[int]) -> Iterator[int]:
    """The points that agree with one along these dimensions, seeds included."""
    at = spec.sweep.position(point)

    def walk(i: int, base: int) -> Iterator[int]:
        if i == len(at):
            yield base
            return
        size, stride = spec.sweep.sizes[i], spec.sweep.strides[i]
        for here in (at[i],) if i in dimensions else range(size):
            yield from walk(i + 1, base + here * stride)

    return walk(0, 0)
