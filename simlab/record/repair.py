"""Repair: damaged segments are set aside, never deleted, and what they held is computed again.

A point whose committed rows are no longer complete begins anew: one merged segment without anything of such points
replaces the sound ones that tell of them. It is committed before the damaged files are moved: after ``kill -9`` they
are still there, or nothing is left to do but moving files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from simlab.record.atomic import set_aside, unlink_file
from simlab.record.checksum import Damaged
from simlab.record.index import Index, replaced_by, segment_belongs
from simlab.record.segments import Segment
from simlab.record.writer import Writer

Names = Callable[[int], set[str]]
"""Point → the names that it records once."""


def repair(writer: Writer, aside: Path, points: int, names: Names) -> list[str]:
    """Set damaged segments aside, and drop points that are no longer complete; returns a line for each thing done.

    writer: writer of the run's segments.
    aside: directory that damaged files are moved to.
    points: number of points of the sweep.
    names: which names a point records once.
    """
    sound, damaged = survey(writer.directory, writer.spec_hash, points)
    index = Index.of(sound, writer.spec_hash, points)
    dropped = incomplete(index, points, names, bool(damaged))
    said = []
    affected = [segment for segment in index.segments if segment.points & dropped]
    if affected:
        writer.merge(affected, 1 + max(segment.level for segment in affected), dropped)
        said.append(f"{len(dropped)} of {points} points are no longer complete and are computed from their beginning")
    for path, error in damaged.items():
        target = set_aside(path, aside)
        why = str(error).partition("damaged: ")[2].partition("; `simlab")[0]
        said.append(f"{path.name}: damaged: {why}; moved to {target.parent.name}/{target.name}")
    clear_replaced(Index.read(writer.directory, writer.spec_hash, points), aside)
    return said


def clear_replaced(index: Index, aside: Path) -> None:
    """Take away parts that a merged segment stands for; those with rows that are nowhere else are only moved."""
    for path in index.replaced:
        if path in index.removable:
            unlink_file(path)
        else:
            set_aside(path, aside)


def survey(directory: Path, spec_hash: str, points: int) -> tuple[list[Segment], dict[Path, Damaged]]:
    """Read every byte of every segment: those that are sound, and what is wrong with the others.

    What is sound but of another spec or a newer format is refused: it is not ours to move.
    """
    sound: list[Segment] = []
    damaged: dict[Path, Damaged] = {}
    for path in Index.files(directory):
        try:
            segment = Segment.read(path)
            segment.check_whole()
            segment_belongs(segment, spec_hash, points)
            sound.append(segment)
        except Damaged as error:
            damaged[path] = error
    for segment in list(sound):
        try:
            replaced_by([segment, *(other for other in sound if other.path.name in segment.replaces)])
        except Damaged as error:
            damaged[segment.path] = error
            sound.remove(segment)
    return sound, damaged


def incomplete(index: Index, points: int, names: Names, lost: bool) -> set[int]:
    """The points that must begin anew: records are missing, or a value given once.

    lost: whether something is known to be gone. Only then is a point under way without all of its names begun anew: it
    may just not have come to them yet. With its first commit at hand, it can have lost none.
    """
    short = set(np.flatnonzero(index.covered(points) < index.lengths(points)).tolist())
    have: dict[int, set[str]] = {}
    for segment in index.segments:
        for table in segment.tables:
            columns = [name for name, _, _ in table.signature]
            for point in np.unique(table.blocks[table.blocks[:, 1] < 0, 0]).tolist():
                have.setdefault(point, set()).update(columns)
    later = [point for point, at in index.checkpoints.items() if at.reached.serial > 1]
    asked = [*index.finished, *(later if lost or short else ())]
    return short | {point for point in asked if point not in short and names(point) - have.get(point, set())}
