"""Whether a merged segment holds all of a part that it claims to replace.

Merging copies blocks as they are: every block of a part is a block of the merged segment, in a table of the same shape.
Nothing is deleted on the word of a file alone: a stale or foreign ``replaces`` must not cost rows it does not hold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simlab.record.segments import Segment, Signature


def stands_for(merged: Segment, part: Segment) -> bool:
    """Whether the part can go: all of its rows, marks and newest checkpoints are in the merged segment."""
    return _holds(merged, part, frozenset())


def replaces(merged: Segment, part: Segment) -> bool:
    """Whether the part no longer counts: what it holds is in the merged segment, or of points that a repair dropped."""
    return _holds(merged, part, merged.dropped)


def _holds(merged: Segment, part: Segment, dropped: frozenset[int]) -> bool:
    if merged.spec_hash != part.spec_hash or merged.level <= part.level:
        return False
    mine, its = _blocks(merged), _blocks(part)
    gone = np.array(sorted(dropped), dtype=np.int64)
    for signature, blocks in its.items():
        blocks = blocks[~np.isin(blocks[:, 0], gone)]
        if len(blocks) and not (signature in mine and np.isin(_keys(blocks), _keys(mine[signature])).all()):
            return False
    return (
        all(merged.finished.get(point) == length for point, length in part.finished.items() if point not in dropped)
        and all(
            point in merged.failed and merged.failed[point].attempt >= failure.attempt
            for point, failure in part.failed.items()
            if point not in dropped
        )
        and all(
            point in merged.finished or merged.checkpoints.get(point, (-1, -1, -1)) >= at
            for point, at in part.checkpoints.items()
            if point not in dropped
        )
    )


def _blocks(segment: Segment) -> dict[Signature, NDArray[np.int64]]:
    found: dict[Signature, list[NDArray[np.int64]]] = {}
    for table in segment.tables:
        found.setdefault(table.signature, []).append(table.blocks)
    return {signature: np.concatenate(blocks) for signature, blocks in found.items()}


def _keys(blocks: NDArray[np.int64]) -> NDArray[np.void]:
    """One value per block, to be compared as a whole."""
    return np.ascontiguousarray(blocks).view(np.dtype((np.void, blocks.dtype.itemsize * 3))).ravel()
