"""What is refused of arrays in files, whatever the format: types that are no real numbers, and sizes beyond memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simlab.core import checks
from simlab.core.errors import BadInput, nearest, one_of, shown

KINDS = {
    "O": "objects or text",
    "S": "text",
    "U": "text",
    "T": "text",
    "M": "dates",
    "m": "lengths of time",
    "c": "complex numbers",
    "V": "records or raw bytes",
}


def refuse_unless_real(dtype: np.dtype[Any], what: str) -> None:
    """Integers, floating-point numbers and booleans pass."""
    if dtype.kind not in "biuf":
        holds = KINDS.get(dtype.kind, "something else")
        raise BadInput(f"{what}: holds {holds} ({shown(str(dtype))}): must be real numbers")


def refuse_beyond_memory(size: int, what: str) -> None:
    """Before `size` bytes are read."""
    checks.memory(size // 8, what, "; saved as .npy it is read part by part")


def chosen(name: str, names: Sequence[str], path: Any) -> str:
    """The name of the array that is meant."""
    if not names:
        raise BadInput(f"{path}: holds no arrays")
    if name and name not in names:
        raise BadInput(f"{path}::{shown(name)}: no such array{nearest(name[:100], names[:1000])} ({one_of(names)})")
    if not name and len(names) != 1:
        raise BadInput(f"{path} holds {len(names)} arrays: name one as {path}::NAME ({one_of(names)})")
    return name or names[0]
