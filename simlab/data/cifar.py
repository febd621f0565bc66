"""CIFAR-10 and CIFAR-100 in their binary files: pixels/255, one image per row of 3072: red, green, blue, 32 × 32 each.

CIFAR-10: ``data_batch_1.bin`` … ``data_batch_5.bin`` and ``test_batch.bin``; a record is a label and 3072 pixels.
CIFAR-100: ``train.bin`` and ``test.bin``; a record is a coarse label (of 20), a fine one (of 100) and 3072 pixels.
They lie in a subdirectory of the data directory (``--data DIR``, SIMLAB_DATA) or in that directory itself, gzipped or
not. https://www.cs.toronto.edu/~kriz/cifar.html
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.data._limits import refuse_beyond_memory
from simlab.data._rows import permuted, to_unit_norm
from simlab.data.directory import find
from simlab.data.files import read_records
from simlab.data.law import Floats, Ints, Labelled, Law, Part

PIXELS = 3 * 32 * 32


class Format(NamedTuple):
    """How a set is stored.

    directory: name of the directory that the published archive holds.
    train, test: names of the files.
    label_bytes: number of labels in a record, before the pixels.
    column: which of them is the class.
    classes: number of classes.
    """

    directory: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    label_bytes: int
    column: int
    classes: int


_HUNDRED = ("cifar-100-binary", ("train.bin",), ("test.bin",), 2)
FORMATS = {
    "ten": Format(
        "cifar-10-batches-bin", tuple(f"data_batch_{i}.bin" for i in range(1, 6)), ("test_batch.bin",), 1, 0, 10
    ),
    "fine": Format(*_HUNDRED, 1, 100),
    "coarse": Format(*_HUNDRED, 0, 20),
}


class CIFAR(Law):
    """The training images of CIFAR-10 or CIFAR-100."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"classes": "fine", "normalise": True},
        {"classes": "coarse", "subdirectory": "cifar"},
    )
    shown: ClassVar[tuple[str, ...]] = (*Law.shown, "class_count", "row_count", "sample_labelled")
    finite: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    has_labels: ClassVar[bool] = True

    classes: Literal["ten", "fine", "coarse"] = Field(
        "ten", description="ten: CIFAR-10; fine, coarse: the 100 or the 20 classes of CIFAR-100"
    )
    normalise: bool = Field(False, description="divide each image by its norm")
    subdirectory: str | None = Field(
        None,
        min_length=1,
        description="of the data directory, or an absolute path; left out: cifar-10-batches-bin or cifar-100-binary",
    )

    @property
    def _format(self) -> Format:
        return FORMATS[self.classes]

    def _files(self, part: Part) -> list[Path]:
        names = self._format.train if part == "train" else self._format.test
        return [find(name, self.subdirectory or self._format.directory) for name in names]

    def _records(self, part: Part = "train") -> NDArray[np.uint8]:
        """(n, label bytes + 3072)"""
        files = self._files(part)
        return _read(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in files), self.classes)

    def _pixels(self, records: NDArray[np.uint8]) -> Floats:
        X = records[:, self._format.label_bytes :].astype(np.float64)
        X /= 255.0
        if self.normalise:
            to_unit_norm(X)
        return X

    def require(self) -> None:
        for part in ("train", "test"):
            self._files(part)

    def dimension(self) -> int:
        return PIXELS

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        records = self._records()
        return self._pixels(records[permuted(len(records), n, rng, repr(self))])

    def has_test_part(self) -> bool:
        return True

    def class_count(self) -> int:
        return self._format.classes

    def row_count(self, part: Part = "train") -> int:
        return len(self._records(part))

    def labelled_rows(self, numbers: Ints, part: Part = "train") -> Labelled:
        chosen = self._records(part)[numbers]
        return Labelled(self._pixels(chosen), chosen[:, self._format.column].astype(np.int64))


@functools.lru_cache(maxsize=2)  # training and test files; a sweep asks again at every point
def _read(files: tuple[tuple[Path, int, int], ...], classes: str) -> NDArray[np.uint8]:
    """Records of all files, (n, label bytes + 3072), their classes checked."""
    stored = FORMATS[classes]
    parts = [read_records(path, stored.label_bytes + PIXELS) for path, _, _ in files]
    for (path, _, _), records in zip(files, parts, strict=True):
        labels = records[:, stored.column]
        if (bad := labels >= stored.classes).any():
            at = int(np.argmax(bad))
            raise BadInput(
                f"{path}: label {at} is {labels[at]}: must be below {stored.classes} (classes = {classes!r})"
            )
    if len(parts) == 1:
        return parts[0]
    refuse_beyond_memory(sum(part.nbytes for part in parts), str(files[0][0].parent))
    return np.concatenate(parts)
