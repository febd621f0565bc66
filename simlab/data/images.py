"""Labelled images in the files of MNIST, and of the many sets in its format: pixels/255, one image per row.

``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with ``t10k`` for the test, gzipped or not, in a
subdirectory of the data directory (``--data DIR``, SIMLAB_DATA) or in that directory itself. `sample` draws training
images in random order, none twice; `labelled` gives all four arrays in the order of the files.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.data._rows import permuted, to_unit_norm
from simlab.data.directory import located
from simlab.data.files import read_array, state_of
from simlab.data.law import Floats, Law


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
    shown: ClassVar[tuple[str, ...]] = (*Law.shown, "labelled", "pixels", "stored")
    finite: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True

    subdirectory: str = Field("mnist", min_length=1, description="of the data directory, or an absolute path")
    normalise: bool = Field(False, description="divide each image by its norm")

    def _find(self, name: str) -> Path:
        below = located(self.subdirectory)
        places = [below] if Path(self.subdirectory).is_absolute() else [below, located(".")]
        for place in places:
            for candidate in (place / name, place / f"{name}.gz"):
                with contextlib.suppress(BadInput):
                    state_of(candidate)
                    return candidate
        looked = " and ".join(os.path.abspath(place) for place in places)
        raise BadInput(f"{name} (or {name}.gz): not found in {looked}")

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
        if train.shape[1] != test.shape[1]:
            raise BadInput(f"{self.subdirectory}: training images of {train.shape[1]} pixels, test of {test.shape[1]}")
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
