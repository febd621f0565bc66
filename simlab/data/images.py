"""Labelled images in the files of MNIST, and of the many sets in its format: pixels/255, one image a row.

``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with ``t10k`` for the test, gzipped or not, in a
subdirectory of the data directory (``--data DIR``, SIMLAB_DATA) or in that directory itself. `sample` draws training
images in random order, none twice; `labelled` gives all four arrays in the order of the files.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.core.params import Params as Base
from simlab.data._rows import permuted, to_unit_norm
from simlab.data.directory import located
from simlab.data.files import read_array, state_of

Floats = NDArray[np.float64]


FINITE = True


class Params(Base):
    subdirectory: str = Field("mnist", min_length=1, description="of the data directory, or an absolute path")
    normalise: bool = Field(False, description="divide each image by its norm")


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"subdirectory": "digits", "normalise": True})


class Stored(NamedTuple):
    """As in the files: images (n, pixels) of bytes, labels (n,)."""

    train: NDArray[np.uint8]
    train_labels: NDArray[np.int64]
    test: NDArray[np.uint8]
    test_labels: NDArray[np.int64]


def _find(params: Params, name: str) -> Path:
    below = located(params.subdirectory)
    places = [below] if Path(params.subdirectory).is_absolute() else [below, located(".")]
    for place in places:
        for candidate in (place / name, place / f"{name}.gz"):
            with contextlib.suppress(BadInput):
                state_of(candidate)
                return candidate
    looked = " and ".join(os.path.abspath(place) for place in places)
    raise BadInput(f"{name} (or {name}.gz): not found in {looked}")


def find_all(params: Params) -> list[Path]:
    """The four files, which may hold anything; refuses where one is missing."""
    return [
        _find(params, f"{part}-{what}-ubyte") for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")
    ]


def require(params: Params) -> None:
    """Refuse where one of the files is not there."""
    find_all(params)


@functools.lru_cache(maxsize=2)
def _pair(images: Path, labels: Path, changed: tuple[int, int]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    pixels, marks = read_array(images), read_array(labels)
    if pixels.ndim != 2 or pixels.dtype != np.uint8 or marks.ndim != 1 or marks.dtype.kind not in "iu":
        raise BadInput(
            f"{images}: shape {pixels.shape} of {pixels.dtype} with labels {marks.shape} of {marks.dtype}:"
            " must be bytes, one image a row, and one integer each"
        )
    if len(pixels) != len(marks):
        raise BadInput(f"{images}: {len(pixels)} images, but {len(marks)} labels in {labels.name}")
    return pixels, marks.astype(np.int64)


def _part(params: Params, part: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    images, labels = _find(params, f"{part}-images-idx3-ubyte"), _find(params, f"{part}-labels-idx1-ubyte")
    return _pair(images, labels, (images.stat().st_mtime_ns, labels.stat().st_mtime_ns))


def stored(params: Params) -> Stored:
    """Both parts as bytes: an eighth of their size as numbers."""
    (train, train_labels), (test, test_labels) = _part(params, "train"), _part(params, "t10k")
    if train.shape[1] != test.shape[1]:
        raise BadInput(f"{params.subdirectory}: training images of {train.shape[1]} pixels, test of {test.shape[1]}")
    return Stored(train, train_labels, test, test_labels)


def pixels(params: Params, images: NDArray[np.uint8]) -> Floats:
    """X : (n, pixels), in [0, 1] or of unit norm; a black image stays 0."""
    X = images.astype(np.float64)
    X /= 255.0
    if params.normalise:
        to_unit_norm(X)
    return X


def labelled(params: Params) -> tuple[Floats, NDArray[np.int64], Floats, NDArray[np.int64]]:
    """(X_train, labels_train, X_test, labels_test), in the order of the files."""
    found = stored(params)
    return pixels(params, found.train), found.train_labels, pixels(params, found.test), found.test_labels


def dimension(params: Params) -> int:
    return int(_part(params, "train")[0].shape[1])


def sample(params: Params, n: int, rng: np.random.Generator) -> Floats:
    """X : (n, pixels)"""
    images, _ = _part(params, "train")
    return pixels(params, images[permuted(len(images), n, rng, params.subdirectory)])
