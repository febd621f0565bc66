"""What labels say of a sample's class: ±1 of one output, or the largest entry of a row of several. MATH §10."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.observables.view import Setting

Floats = NDArray[np.float64]
ROUNDING = 1e-9
"""How far a sign may be from ±1: products of coordinates of a scaled cube are rounded."""


def check_labels(setting: Setting, observable: str) -> None:
    """Raise ValueError where the target is known to have real values, which are of no class.

    observable: kind of the observable that needs classes.
    """
    if setting.target is not None and setting.target.value_kind() == "real":
        raise ValueError(
            f"target.kind = {setting.target.kind!r}: {observable} needs labels ±1 or one-hot; its values are real"
        )


def class_numbers(y: Floats, observable: str) -> NDArray[np.int64]:
    """The class of each label, (n,): 0 for −1 and 1 for +1; of rows (n, c), the place of the largest entry.

    y: (n, c). Rows of several outputs hold two numbers, the larger one once, as one-hot rows and rows of ±1 do.
    observable: kind of the observable, for the error.

    Raises BadInput for any other labels.
    """
    c = y.shape[1]
    if c == 1:
        wrong = ~(np.abs(np.abs(y[:, 0]) - 1.0) <= ROUNDING)
    else:
        ordered = np.sort(y, axis=1)
        low, high = ordered[:, :1], ordered[:, -1:]
        wrong = (y != low).sum(axis=1) != 1
        wrong |= ~(np.isin(low[:, 0], (0.0, -1.0)) & (high[:, 0] == 1.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        must = "−1 or +1" if c == 1 else "0 or −1 but for one entry 1, the class"
        raise BadInput(f"y[{row}] = {y[row].tolist()}: {observable} needs labels that are {must}")
    found: NDArray[np.int64] = (y[:, 0] > 0.0).astype(np.int64) if c == 1 else np.argmax(y, axis=1)
    return found


def class_count(outputs: int) -> int:
    """Number of classes: 2 for one output, otherwise one per output."""
    return max(2, outputs)


def margins(f: Floats, y: Floats, observable: str) -> Floats:
    """How far each sample lies on the right side, (n,): y f of one output, f_y − max_{j≠y} f_j of several.

    f, y: predictions and labels, (n, c).
    observable: kind of the observable, for the error.
    """
    classes = class_numbers(y, observable)
    if f.shape[1] == 1:
        return np.asarray(y[:, 0] * f[:, 0])
    rows = np.arange(len(f))
    others = f.copy()
    others[rows, classes] = -np.inf
    return np.asarray(f[rows, classes] - others.max(axis=1))
