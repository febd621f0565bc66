"""Labels in files as classes 0 … k − 1, whatever way they are written.

- Whole numbers from 0 on, also as floats: taken as they are, gaps included (1 … 10 leaves class 0 without a row).
- ±1: −1 is class 0, +1 is class 1.
- Booleans: False is class 0, True is class 1.
- One-hot rows (n, k): the place of the 1.

The test part is read as the training part: a file of ones only may mean class 1 of 0 and 1, or +1.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, shown
from simlab.data._limits import refuse_beyond_memory

MOST_CLASSES = 1_000_000
"""Labels are smaller than this: larger ones are counts, dates or amounts."""
ALLOWED = f"must be classes 0, 1, …, {MOST_CLASSES - 1}, or ±1, or booleans, or one-hot rows"


class Classes(NamedTuple):
    """Labels of one part.

    labels: class of each row, (n,).
    written: how the file writes them.
    columns: number k of columns of one-hot rows; 0 for any other.
    """

    labels: NDArray[np.int64]
    written: Literal["numbers", "signs", "one-hot rows"]
    columns: int = 0


def to_classes(marks: NDArray[Any], what: str, train: Classes | None = None) -> Classes:
    """The classes that an array of labels means; BadInput, one line, where it means none.

    marks: labels as the file has them.
    what: name of the file, for errors.
    train: classes of the training part, for labels of the test part.
    """
    refuse_beyond_memory(8 * marks.size, what)
    if marks.ndim == 2:
        found = _of_one_hot(marks, what)
    elif marks.ndim == 1:
        found = _of_numbers(marks, what, train)
    else:
        raise BadInput(f"{what}: shape {marks.shape}: must be (n,), or one-hot rows (n, k)")
    if train is None:
        if len(classes := np.unique(found.labels)) < 2:
            says = f"all rows are of class {classes[0]}" if len(classes) else "there is no label"
            raise BadInput(f"{what}: {says}: must be two classes or more")
    elif (train.written, train.columns) != (found.written, found.columns):
        raise BadInput(f"{what}: {_words(found)}, but the training labels are {_words(train)}: must be written alike")
    return found


def class_count(*parts: Classes) -> int:
    """Number k of classes of all parts together."""
    return max(part.columns or 1 + int(part.labels.max(initial=0)) for part in parts)


def check_rows(rows: int, labels: int, what: str, where: str) -> None:
    """Raise BadInput where there are not as many labels as rows.

    what: name of the rows.
    where: name of the labels.
    """
    if rows != labels:
        raise BadInput(f"{where}: {labels} labels, but {what} has {rows} rows: must be one label per row")


def check_columns(train: int, test: int, what: str, noun: str, unit: str) -> None:
    """Raise BadInput where training and test rows have not the same dimension."""
    if train != test:
        raise BadInput(f"{what}: training {noun} of {train} {unit}, test of {test}")


def _words(classes: Classes) -> str:
    return f"one-hot rows of {classes.columns} columns" if classes.columns else f"written as {classes.written}"


def _of_one_hot(marks: NDArray[Any], what: str) -> Classes:
    good = np.logical_and(((marks == 0) | (marks == 1)).all(axis=1), (marks == 1).sum(axis=1) == 1)
    if marks.shape[1] < 2 or not good.all():
        at = f" (row {int(np.argmin(good))} is not)" if marks.shape[1] >= 2 else ""
        raise BadInput(f"{what}: shape {marks.shape}, but no one-hot rows{at}: must be (n,), or one-hot rows (n, k)")
    return Classes(np.argmax(marks, axis=1).astype(np.int64), "one-hot rows", marks.shape[1])


def _of_numbers(marks: NDArray[Any], what: str, train: Classes | None) -> Classes:
    signs = train is not None and train.written == "signs"
    if train is None:
        signs = bool(marks.dtype.kind in "if" and (marks == -1).any() and (np.abs(marks) == 1).all())
    if marks.dtype.kind == "f":
        _refuse(~np.isfinite(marks), marks, what, ALLOWED)
        _refuse(marks != np.floor(marks), marks, what, ALLOWED)
    if signs:
        _refuse((marks != 1) & (marks != -1), marks, what, "must be ±1, as in the training part")
        return Classes((marks == 1).astype(np.int64), "signs")
    _refuse((marks < 0) | (marks >= MOST_CLASSES), marks, what, ALLOWED)
    return Classes(marks.astype(np.int64), "numbers")


def _refuse(bad: NDArray[np.bool_], marks: NDArray[Any], what: str, must: str) -> None:
    """BadInput that names the first wrong label, where there is one."""
    if bad.any():
        at = int(np.argmax(bad))
        raise BadInput(f"{what}: label {at} is {shown(marks[at].item())}: {must}")
