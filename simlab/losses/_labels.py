"""Labels as losses take them, y : (n, c) in float64, from what a user gives; what does not fit is refused in one line.

- "real": finite numbers, (n, c); with one output also (n,).
- "signs": ±1. With one output from −1 and +1, or from 0 and 1. With c > 1 outputs one class against the rest, from
  class numbers (n,) from 0 to c − 1, from one-hot rows (n, c), or from ±1 (n, c).
- "classes": one-hot rows, from class numbers (n,) or from one-hot rows (n, c); c ≥ 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.checks import BadData

Floats = NDArray[np.float64]


def encode(labels: str, y: Any, outputs: int, name: str, *, several: bool, loss: str) -> Floats:
    """The labels y : (n, outputs).

    labels: "real", "signs" or "classes".
    y: as the user gave them.
    outputs: number c of outputs.
    name: what an error calls y.
    several: whether two or more samples that are all of one class are refused.
    loss: name of the loss, for errors.
    """
    c = checks.whole(outputs, "outputs", least=1)
    if labels == "classes" and c == 1:
        raise BadData(f"outputs = 1: the loss {loss} needs one output per class, 2 or more")
    if labels == "real":
        return _real(y, c, name)
    found = _one_output(y, name, loss) if c == 1 else _several_outputs(y, c, name, loss, signs=labels == "signs")
    if several and len(found) > 1 and (found == found[0]).all():
        raise BadData(f"{name}: one class only, all {len(found)} labels are those of {name}[0]; must be of 2 or more")
    return found


def _real(y: Any, c: int, name: str) -> Floats:
    must = f"(n, {c}), one row per sample" if c > 1 else "(n,) or (n, 1), one number per sample"
    found = checks.array(y, name, ndim=2 if c > 1 else (1, 2), must=must)
    if found.ndim == 2 and found.shape[1] != c:
        raise BadData(f"{name} has shape {found.shape}: must be {must}")
    return np.ascontiguousarray(found.reshape(-1, c))


def _one_output(y: Any, name: str, loss: str) -> Floats:
    """±1 : (n, 1), from −1 and +1 or from 0 and 1."""
    must = f"all −1 or +1, or all 0 or 1, for the loss {loss}"
    found = checks.array(y, name, ndim=(1, 2), must=f"(n,) or (n, 1), {must}")
    if found.ndim == 2 and found.shape[1] != 1:
        raise BadData(f"{name} has shape {found.shape}: must be (n,) or (n, 1), {must}")
    _refuse(~np.isin(found, (-1.0, 0.0, 1.0)), found, name, must)
    zeros, minus = found == 0.0, found == -1.0
    if zeros.any() and minus.any():
        later = zeros if np.argmax(minus) < np.argmax(zeros) else minus
        _refuse(later, found, name, f"{must}, not both")
    signs: Floats = np.where(found == 1.0, 1.0, -1.0)
    return signs.reshape(-1, 1)


def _several_outputs(y: Any, c: int, name: str, loss: str, *, signs: bool) -> Floats:
    """±1 or one-hot : (n, c), from class numbers, from one-hot rows or, for signs, from ±1."""
    also = f" or ±1 (n, {c})" if signs else ""
    must = f"class numbers (n,) from 0 to {c - 1}, or one-hot (n, {c}){also}, for the loss {loss}"
    found = checks.array(y, name, ndim=(1, 2), must=must)
    if found.ndim == 2 and found.shape[1] != c:
        raise BadData(f"{name} has shape {found.shape}: must be {must}")
    if found.ndim == 1:
        _refuse((found < 0) | (found >= c) | (found != np.floor(found)), found, name, must)
        one_hot: Floats = (found[:, None] == np.arange(c)).astype(np.float64)
    elif signs and np.isin(found, (-1.0, 1.0)).all():
        return np.ascontiguousarray(found)
    else:
        _refuse(~np.isin(found, (0.0, 1.0)), found, name, must)
        wrong = np.flatnonzero(found.sum(axis=1) != 1.0)
        if wrong.size:
            ones = int(found[wrong[0]].sum())
            raise BadData(f"{name}[{wrong[0]}] has {ones} entries that are 1: must be {must}")
        one_hot = np.ascontiguousarray(found)
    return 2.0 * one_hot - 1.0 if signs else one_hot


def _refuse(wrong: NDArray[np.bool_], found: Floats, name: str, must: str) -> None:
    """Raise BadData with the first entry that is wrong."""
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise BadData(f"{name}[{', '.join(map(str, at))}] = {found[at]:g}: must be {must}")
