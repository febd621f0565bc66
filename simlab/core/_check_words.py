"""The words in the errors of `simlab.core.checks`: where an entry is wrong, which range or shape is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from simlab.core.errors import shown


def first_true(wrong: Any) -> tuple[int, ...]:
    """Index of the first true entry, in C order."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), np.shape(wrong)))


def place(name: str, at: tuple[int, ...]) -> str:
    """``X[2, 0]``: an entry of the array `name`; the name alone for a single number."""
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def plain(value: Any) -> Any:
    """A NumPy number as Python's; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def within(value: float, least: float | None, above: float | None, most: float | None, below: float | None) -> bool:
    """Whether a number lies within its bounds.

    least, most: bounds, included; None for no bound.
    above, below: bounds, excluded; None for no bound.
    """
    return (
        (least is None or value >= least)
        and (above is None or value > above)
        and (most is None or value <= most)
        and (below is None or value < below)
    )


def range_words(
    least: float | None = None, above: float | None = None, most: float | None = None, below: float | None = None
) -> str:
    """`0 or more`, `from 1 to 20`, `greater than 0 and less than 1`; nothing without bounds."""
    if least is not None and most is not None and most >= 1e100:
        return f"{least} or more, up to {float(most):.0e}"
    if least is not None and most is not None:
        return f"from {shown(least)} to {shown(most)}"
    words = [
        *([f"{least} or more"] if least is not None else []),
        *([f"greater than {above}"] if above is not None else []),
        *([f"at most {shown(most)}"] if most is not None else []),
        *([f"less than {below}"] if below is not None else []),
    ]
    return " and ".join(words)


def shape_words(ndim: tuple[int, ...] | None, shape: tuple[int, ...] | None) -> str:
    """The allowed shapes in words.

    ndim: allowed numbers of dimensions: ``a vector or a matrix``.
    shape: the whole shape, if it is prescribed: ``(3, 2)``.
    """
    if shape is not None:
        return str(shape)
    names = {0: "a single number", 1: "a vector", 2: "a matrix"}
    return " or ".join(names.get(k, f"of {k} dimensions") for k in ndim or ())
