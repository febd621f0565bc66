"""What a run needs of this machine: data that are there, and memory. Asked before anything is written."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from simlab.core.errors import BadInput
from simlab.core.params import Params, module_of
from simlab.core.resources import free_memory
from simlab.lab.spec import Spec

WEIGHED_POINTS = 1000  # combinations looked at, beside every value of every axis


def check(spec: Spec, finished: Collection[int] = ()) -> None:
    """Refuse a run whose unfinished points lack their data, or need more memory than there is."""
    for data in stored(spec, finished):
        module_of(data).require(data)
    free, (needed, point) = free_memory(), largest(spec, finished)
    if needed > free:
        at = f"{spec.sweep.label(point)}: " if spec.sweep.label(point) else ""
        raise BadInput(f"{at}needs at least {size(needed)} of memory, and {size(free)} are free")


def stored(spec: Spec, finished: Collection[int] = ()) -> list[Params]:
    """The kinds that read files, of all unfinished points, each once."""
    found: list[Params] = []
    for point in spec.sweep.representatives(WEIGHED_POINTS):
        if point not in finished:
            new = [one for one in _inside(spec.params(point)) if hasattr(module_of(one), "require")]
            found += [one for one in new if one not in found]
    return found


def largest(spec: Spec, finished: Collection[int] = ()) -> tuple[float, int]:
    """Bytes of memory that the largest unfinished point needs at least, and that point; 0 where nothing is known."""
    if not hasattr(spec.experiment, "memory"):
        return 0.0, 0
    points = dict.fromkeys(p for p in spec.sweep.representatives(WEIGHED_POINTS) if p not in finished)
    return max(((float(spec.experiment.memory(spec.params(p))), p) for p in points), default=(0.0, 0))


def size(nbytes: float) -> str:
    """``8.8 TB``"""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} EB"


def _inside(params: Params) -> Iterator[Params]:
    """The parameters and all that they are made of."""
    yield params
    for name in type(params).model_fields:
        value = getattr(params, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Params):
                yield from _inside(item)
