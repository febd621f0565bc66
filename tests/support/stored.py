"""Small files in the formats of MNIST and CIFAR."""

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


def write_cifar(directory: Path, hundred: bool = False, rows: int = 8, zipped: bool = False) -> dict[str, np.ndarray]:
    """Random records, `rows` per file, and what was written: name of the file → (rows, bytes of a record)."""
    directory.mkdir(exist_ok=True)
    rng = np.random.default_rng(6)
    ten = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    sizes = (20, 100) if hundred else (10,)
    found = {}
    for name in ("train.bin", "test.bin") if hundred else ten:
        labels = np.stack([rng.permutation(max(rows, size))[:rows] % size for size in sizes], axis=1)
        found[name] = np.hstack([labels.astype(np.uint8), rng.integers(0, 256, (rows, 3072), dtype=np.uint8)])
        content = found[name].tobytes()
        (directory / f"{name}{'.gz' * zipped}").write_bytes(gzip.compress(content, 1) if zipped else content)
    return found
