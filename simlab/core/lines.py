"""Workspace that begins at a line of the CPU's cache, in whole lines: otherwise vectors lie across two of them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from simlab.core.jit import jit

LINE_BYTES = 64
LINE_FLOATS = LINE_BYTES // 4  # reals of one line in float32, of two in float64


@jit
def padded(count: int) -> int:
    """Reals of whole lines, at least so many."""
    return int(-(-count // LINE_FLOATS) * LINE_FLOATS)


@jit
def aligned(space: NDArray[Any]) -> NDArray[Any]:
    """`space` from its first whole line on; up to `LINE_FLOATS` reals shorter."""
    return space[-space.ctypes.data % LINE_BYTES // space.itemsize :]
