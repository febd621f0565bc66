"""What holds at every point of a sweep, asked at few of them: points that differ only in what is not looked at agree.

`covering` calls a function at enough points: it watches which swept fields the function looks at (`simlab.core.reads`),
and goes through the combinations of those alone. `check` validates all points this way:

- every value of every axis by the rules of its own field, in one go;
- the rules between fields at every combination of the axes that they look at, if there are at most `most` of these;
  otherwise at `most` values of each such axis (the least and the largest among them) and at `most` combinations. What
  only shows at a combination that is left out fails later, as its own point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from simlab.core import reads
from simlab.core.errors import BadInput
from simlab.core.params import Params, first_wrong, rooms_of

if TYPE_CHECKING:
    from simlab.lab.spec import Spec

SAID_EVERY = 2000  # points

T = TypeVar("T")


@dataclass(frozen=True)
class Cover(Generic[T]):
    """What a function gives, by point; and the dimensions of the sweep that it depends on, by number."""

    found: dict[int, T]
    dimensions: frozenset[int]


def covering(
    spec: Spec,
    function: Callable[[Params], T],
    most: int,
    *,
    parsing: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Cover[T]:
    """Call a function of the parameters at points that stand for all others.

    most: number of combinations, and of values of one axis, that are looked at.
    parsing: the rules between fields count as looking, too.
    progress: called now and then with the number of points done.
    """
    sweep = spec.sweep
    dimension = {key: i for i, group in enumerate(sweep.groups) for key in group}
    found: dict[int, T] = {}
    with reads.watching(Params) as watch:

        def visit(point: int) -> set[int]:
            """Calls the function; returns the dimensions that were looked at."""
            watch.forget()
            params = spec.params(point)
            if not parsing:
                watch.found.clear()
            found[point] = function(params)
            return {i for key, i in dimension.items() if watch.looked_at(key)}

        needed = {i for key, i in dimension.items() if not _is_field(spec.params(0), key)}
        while True:
            grown: set[int] = set()
            for point in sweep.representatives(most, needed):
                if point in found:
                    continue
                grown = visit(point) - needed
                if len(found) % SAID_EVERY == 0:
                    progress(len(found))
                if grown:
                    break
            if not grown:
                return Cover(found, frozenset(needed))
            needed |= grown


def check(spec: Spec, most: int, progress: Callable[[int], None] = lambda done: None) -> None:
    """Refuse a spec of which a point is not as it should be."""
    seen: set[tuple[str, type[Params]]] = set()

    def axes(params: Params) -> None:
        for key in spec.sweep.keys:
            holder, name = _holder(params, key)
            if holder is not None and (key, type(holder)) not in seen:
                seen.add((key, type(holder)))
                _check_axis(spec, type(holder), name, key)

    covering(spec, axes, most, parsing=True, progress=progress)


def _check_axis(spec: Spec, cls: type[Params], name: str, key: str) -> None:
    sweep, values = spec.sweep, spec.sweep.axes[key]
    i = next(i for i, group in enumerate(sweep.groups) if key in group)

    def try_out(at: int) -> None:
        spec.params(at * sweep.strides[i])

    try:
        wrong = first_wrong(cls, name, values)
    except TypeError:
        for at in range(len(values)):
            try_out(at)
        return
    if wrong is not None:
        try_out(wrong)
        raise BadInput(f"sweep.{key}: value number {wrong + 1} is not of use")


def _is_field(params: Params, key: str) -> bool:
    return _holder(params, key)[0] is not None


def _holder(params: Params, key: str) -> tuple[Params | None, str]:
    """The object that a dotted key names a field of, and the field; None where it chooses a kind."""
    *path, name = key.removeprefix("experiment.").split(".")
    here: Any = params
    for part in path:
        here = getattr(here, part, None)
    good = isinstance(here, Params) and name in type(here).model_fields and name not in rooms_of(type(here))
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
