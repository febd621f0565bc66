"""What a run needs of this machine: data that are there, and memory. Asked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Collection

from simlab.core.errors import BadInput
from simlab.core.parsing import dump
from simlab.core.resources import free_memory
from simlab.data.law import Law
from simlab.experiments.experiment import Experiment
from simlab.lab.covering import Cover, alike, covering
from simlab.lab.spec import Spec, kinds_inside

WEIGHED_POINTS = 1000  # combinations of the axes that matter, and values of one axis, that are looked at


def check(spec: Spec, finished: Collection[int] = (), say: Callable[[str], None] = lambda line: None) -> None:
    """Refuse a run whose unfinished points lack their data, or of which no point fits into memory.

    Where some points fit they are computed, and `say` gets a remark: the others are tried, and fail one by one.
    """
    for data in stored(spec, finished):
        data.require()
    free, needed = free_memory(), memory(spec)
    too_large = {
        point: nbytes
        for point, nbytes in needed.found.items()
        if nbytes > free and not _is_done(spec, point, needed.dimensions, finished)
    }
    if not too_large:
        return
    first = next(iter(too_large))
    at = f"{spec.sweep.label(first)}: " if spec.sweep.keys else ""
    says = f"{at}needs at least {size(too_large[first])} of memory, and {size(free)} are free"
    if len(too_large) == len(needed.found):
        raise BadInput(says)
    say(f"{says}; points that fit are computed all the same")


def stored(spec: Spec, finished: Collection[int] = ()) -> list[Law]:
    """The input laws that read files, of all unfinished points, each once."""
    found: list[Law] = []
    cover = covering(spec, _stored, WEIGHED_POINTS)
    for point, needed in cover.found.items():
        new = [one for one in needed if one not in found]
        if new and not _is_done(spec, point, cover.dimensions, finished):
            found += new
    return found


def _stored(experiment: Experiment) -> list[Law]:
    found = [one for _, one in kinds_inside(experiment) if isinstance(one, Law) and one.reads_files]
    for one in found:
        dump(one)  # looks at every field, so that each file that a point reads is found
    return found


def memory(spec: Spec) -> Cover[float]:
    """Bytes of memory that points need at least, at points that stand for all; none where nothing is known."""
    cover = covering(spec, lambda experiment: experiment.memory(), WEIGHED_POINTS)
    return Cover({point: nbytes for point, nbytes in cover.found.items() if nbytes is not None}, cover.dimensions)


def size(nbytes: float) -> str:
    """``8.8 TB``"""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} EB"


def _is_done(spec: Spec, point: int, dimensions: frozenset[int], finished: Collection[int]) -> bool:
    """Whether the point, and all that agree with it along these dimensions, have finished."""
    return bool(finished) and all(one in finished for one in alike(spec, point, dimensions))
