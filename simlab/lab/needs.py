"""What a run needs of this machine: data that are there, and memory. Asked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from simlab.core.errors import BadInput
from simlab.core.params import Params, module_of
from simlab.core.resources import free_memory
from simlab.lab.spec import Spec

WEIGHED_POINTS = 1000  # combinations looked at, beside every value of every axis


def check(spec: Spec, finished: Collection[int] = (), say: Callable[[str], None] = lambda line: None) -> None:
    """Refuse a run whose unfinished points lack their data, or of which no point fits into memory.

    Where some points fit they are computed, and `say` gets a remark: the others are tried, and fail one by one.
    """
    for data in stored(spec, finished):
        module_of(data).require(data)
    free, needed = free_memory(), memory(spec)
    too_large = {p: nbytes for p, nbytes in needed.items() if nbytes > free and not _is_done(spec, p, finished)}
    if not too_large:
        return
    first = next(iter(too_large))
    at = f"{spec.sweep.label(first)}: " if spec.sweep.keys else ""
    says = f"{at}needs at least {size(too_large[first])} of memory, and {size(free)} are free"
    if len(too_large) == len(needed):
        raise BadInput(says)
    say(f"{says}; points that fit are computed all the same")


def stored(spec: Spec, finished: Collection[int] = ()) -> list[Params]:
    """The kinds that read files, of all unfinished points, each once."""
    found: list[Params] = []
    for point in spec.sweep.representatives(WEIGHED_POINTS):
        if not _is_done(spec, point, finished):
            new = [one for one in _inside(spec.params(point)) if hasattr(module_of(one), "require")]
            found += [one for one in new if one not in found]
    return found


def memory(spec: Spec) -> dict[int, float]:
    """Bytes of memory that points need at least, by point, seeds aside; {} where nothing is known."""
    if not hasattr(spec.experiment, "memory"):
        return {}
    points = dict.fromkeys(spec.sweep.representatives(WEIGHED_POINTS))
    return {point: float(spec.experiment.memory(spec.params(point))) for point in points}


def size(nbytes: float) -> str:
    """``8.8 TB``"""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} EB"


def _is_done(spec: Spec, point: int, finished: Collection[int]) -> bool:
    """Whether the point, of seed index 0, and its repetitions have finished."""
    return all(one in finished for one in range(point, point + (spec.sweep.seeds or 1)))


def _inside(params: Params) -> Iterator[Params]:
    """The parameters and all that they are made of."""
    yield params
    for name in type(params).model_fields:
        value = getattr(params, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Params):
                yield from _inside(item)
