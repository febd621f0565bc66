"""Small files in the format of MNIST."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np


def idx(array: np.ndarray) -> bytes:
    """A file of bytes: 0, 0, 8, the number of dimensions, the sizes, the content."""
    return (
        bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(np.uint8).tobytes()
    )


def write_images(directory: Path, train: int = 40, test: int = 12, zipped: bool = True) -> dict[str, np.ndarray]:
    """Random 3 × 3 images with labels, and what was written."""
    directory.mkdir(exist_ok=True)
    rng = np.random.default_rng(5)
    found = {}
    for part, count in (("train", train), ("t10k", test)):
        found[f"{part}-images-idx3-ubyte"] = rng.integers(0, 256, (count, 3, 3), dtype=np.uint8)
        found[f"{part}-labels-idx1-ubyte"] = rng.integers(0, 10, count, dtype=np.uint8)
    for name, array in found.items():
        if zipped:
            (directory / f"{name}.gz").write_bytes(gzip.compress(idx(array), 1))
        else:
            (directory / name).write_bytes(idx(array))
    return found
