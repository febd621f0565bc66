"""Labelled images in the files of MNIST, and of the many sets in its format: pixels/255, one image per row.

``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with ``t10k`` for the test, gzipped or not, in a
subdirectory of the data directory (``--data DIR``, SIMLAB_DATA) or in that directory itself. `sample` draws training
images in random order, none twice; `sample_labelled` draws them, or test images, with their labels; `labelled` gives
all four arrays in the order of the files.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.data._labels import Classes, check_columns, class_count, to_classes
from simlab.data._rows import permuted, to_unit_norm
from simlab.data.directory import find
from simlab.data.files import read_array
from simlab.data.law import Floats, Ints, Labelled, Law, Part

FILES = {"train": "train", "test": "t10k"}
"""Part → how its files begin."""


class Stored(NamedTuple):
    """As in the files.

    train, test: images (n, pixels), bytes.
    train_labels, test_labels: labels (n,).
    """

    train: NDArray[np.uint8]
    train_labels: NDArray[np.int64]
    test: NDArray[np.uint8]
    test_labels: NDArray[np.int64]


class Images(Law):
    """The training images of a stored set."""

    lack: ClassVar[str] = "no set of labelled images"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"subdirectory": "digits", "normalise": True})
    shown: ClassVar[tuple[str, ...]] = (
        *Law.shown,
        "class_count",
        "labelled",
        "pixels",
        "row_count",
        "sample_labelled",
        "stored",
    )
    finite: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    has_labels: ClassVar[bool] = True

    subdirectory: str = Field("mnist", min_length=1, description="of the data directory, or an absolute path")
    normalise: bool = Field(False, description="divide each image by its norm")

    def _find(self, name: str) -> Path:
        return find(name, self.subdirectory)

    def find_all(self) -> list[Path]:
        """The four files, which may hold anything; refuses where one is missing."""
        return [
            self._find(f"{part}-{what}-ubyte") for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")
        ]

    def require(self) -> None:
        self.find_all()

    def _part(self, part: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Images and labels of "train" or "t10k"."""
        images, labels = self._find(f"{part}-images-idx3-ubyte"), self._find(f"{part}-labels-idx1-ubyte")
        return _read_pair(images, labels, (images.stat().st_mtime_ns, labels.stat().st_mtime_ns))

    def stored(self) -> Stored:
        """Both parts as bytes: an eighth of their size as numbers."""
        (train, train_labels), (test, test_labels) = self._part("train"), self._part("t10k")
        check_columns(train.shape[1], test.shape[1], self.subdirectory, "images", "pixels")
        return Stored(train, train_labels, test, test_labels)

    def pixels(self, images: NDArray[np.uint8]) -> Floats:
        """X : (n, pixels), in [0, 1] or of unit norm; a black image stays 0."""
        X = images.astype(np.float64)
        X /= 255.0
        if self.normalise:
            to_unit_norm(X)
        return X

    def labelled(self) -> tuple[Floats, NDArray[np.int64], Floats, NDArray[np.int64]]:
        """(X_train, labels_train, X_test, labels_test), in the order of the files."""
        found = self.stored()
        return self.pixels(found.train), found.train_labels, self.pixels(found.test), found.test_labels

    def dimension(self) -> int:
        return int(self._part("train")[0].shape[1])

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        images, _ = self._part("train")
        return self.pixels(images[permuted(len(images), n, rng, self.subdirectory)])

    def has_test_part(self) -> bool:
        return True

    def _classes(self) -> dict[str, Classes]:
        found = self.stored()
        train = to_classes(found.train_labels, f"{self.subdirectory}, training labels")
        return {"train": train, "test": to_classes(found.test_labels, f"{self.subdirectory}, test labels", train)}

    def class_count(self) -> int:
        return class_count(*self._classes().values())

    def row_count(self, part: Part = "train") -> int:
        return len(self._part(FILES[part])[0])

    def labelled_rows(self, numbers: Ints, part: Part = "train") -> Labelled:
        images, classes = self._part(FILES[part])[0], self._classes()[part]
        return Labelled(self.pixels(images[numbers]), classes.labels[numbers])


@functools.lru_cache(maxsize=2)
def _read_pair(images: Path, labels: Path, changed: tuple[int, int]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    pixels, marks = read_array(images), read_array(labels)
    if pixels.ndim != 2 or pixels.dtype != np.uint8 or marks.ndim != 1 or marks.dtype.kind not in "iu":
        raise BadInput(
            f"{images}: shape {pixels.shape} of {pixels.dtype} with labels {marks.shape} of {marks.dtype}:"
            " must be bytes, one image per row, and one integer each"
        )
    if len(pixels) != len(marks):
        raise BadInput(f"{images}: {len(pixels)} images, but {len(marks)} labels in {labels.name}")
    return pixels, marks.astype(np.int64)
