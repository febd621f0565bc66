"""Inputs from a file: the rows of an array (.npy, .npz, HDF5 or IDX), in random order, none twice.

``path`` is absolute or lies below the data directory (``--data DIR``, SIMLAB_DATA); ``X.npz::train`` names one array of
several. `sample` draws from all rows: `simlab.data.splits` is the way to training and test rows apart.

``labels`` names an array with one label per row: whole numbers 0, 1, …, or ±1 (−1 becomes class 0, +1 class 1), or
booleans, or one-hot rows. ``test_path`` and ``test_labels`` name test rows, where the set has some of its own.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput
from simlab.data._labels import Classes, check_columns, check_rows, class_count, to_classes
from simlab.data._rows import inputs, permuted, to_unit_norm
from simlab.data.directory import located
from simlab.data.files import SEPARATOR, read_array, state_of
from simlab.data.law import Floats, Ints, Labelled, Law, Part


class Arrays(Law):
    """The rows of a stored array."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"path": "inputs.npy"},
        {"path": "inputs.npz::x", "normalise": True},
        {"path": "inputs.npz::x", "labels": "inputs.npz::y"},
    )
    shown: ClassVar[tuple[str, ...]] = (*Law.shown, "class_count", "row_count", "sample_labelled")
    finite: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    has_labels: ClassVar[bool] = True

    path: str = Field(min_length=1, description="file, absolute or below the data directory; FILE::NAME for one array")
    normalise: bool = Field(False, description="divide each row by its norm")
    labels: str | None = Field(
        None, min_length=1, description="file with one label per row: classes 0, 1, …, ±1, booleans or one-hot rows"
    )
    test_path: str | None = Field(None, min_length=1, description="file of test rows, where they are apart")
    test_labels: str | None = Field(None, min_length=1, description="file of their labels")

    @model_validator(mode="after")
    def _labels_of_both(self) -> Arrays:
        if (self.test_path is None) != (self.test_labels is None):
            given, other = ("test_labels", "test_path") if self.test_path is None else ("test_path", "test_labels")
            raise ValueError(f"{given} = {getattr(self, given)!r}: only with {other}; give both or none")
        if self.test_path is not None and self.labels is None:
            raise ValueError(f"test_path = {self.test_path!r}: only with labels, of the training rows")
        return self

    def _rows(self, part: Part = "train") -> NDArray[Any]:
        return _read(*_source(self.path if part == "train" else self.test_path or ""))

    def _classes(self) -> dict[str, Classes]:
        """Part → classes of its rows."""
        if self.labels is None:
            raise BadInput(f"{self!r}: carries no labels; name their file as labels")
        found = {"train": to_classes(_read_labels(*_source(self.labels)), self.labels)}
        if self.test_labels is not None:
            marks = _read_labels(*_source(self.test_labels))
            found["test"] = to_classes(marks, self.test_labels, found["train"])
        return found

    def require(self) -> None:
        dim = self.dimension()
        if self.labels is not None:
            classes = self._classes()
            check_rows(len(self._rows()), len(classes["train"].labels), self.path, self.labels)
            if self.test_path is not None and self.test_labels is not None:
                rows = self._rows("test")
                check_rows(len(rows), len(classes["test"].labels), self.test_path, self.test_labels)
                check_columns(dim, rows.shape[1], self.test_path, "rows", "columns")

    def dimension(self) -> int:
        return int(self._rows().shape[1])

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        rows = self._rows()
        return self._inputs(rows, permuted(len(rows), n, rng, self.path), self.path)

    def _inputs(self, rows: NDArray[Any], chosen: Ints, what: str) -> Floats:
        X = inputs(rows[chosen], chosen, what)
        if self.normalise:
            to_unit_norm(X)
        return X

    def carries_labels(self) -> bool:
        return self.labels is not None

    def has_test_part(self) -> bool:
        return self.test_path is not None

    def class_count(self) -> int:
        return class_count(*self._classes().values())

    def row_count(self, part: Part = "train") -> int:
        return len(self._rows(self._known(part)))

    def labelled_rows(self, numbers: Ints, part: Part = "train") -> Labelled:
        self.require()
        what = self.path if self._known(part) == "train" else self.test_path or ""
        return Labelled(self._inputs(self._rows(part), numbers, what), self._classes()[part].labels[numbers])

    def _known(self, part: Part) -> Part:
        if part == "test" and self.test_path is None:
            raise BadInput(f"{self!r}: has no test rows of its own; name their file as test_path")
        return part


def _source(path: str) -> tuple[str, int, int]:
    """Where the array lies, and time and size of the file: a changed file is read again."""
    file, _, name = path.partition(SEPARATOR)
    place = located(file)
    state = state_of(place)
    return f"{place}{SEPARATOR}{name}" if name else str(place), state.st_mtime_ns, state.st_size


@functools.lru_cache(maxsize=2)  # a sweep asks again at every point
def _read(source: str, changed: int, size: int) -> NDArray[Any]:
    array = read_array(source)
    if array.ndim != 2 or array.shape[1] == 0:
        raise BadInput(f"{source}: shape {array.shape} of {array.dtype}: must be (rows, d) of real numbers")
    return array


@functools.lru_cache(maxsize=2)
def _read_labels(source: str, changed: int, size: int) -> NDArray[Any]:
    return read_array(source)
