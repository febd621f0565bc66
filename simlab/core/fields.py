"""Types of fields that several kinds share: a positive number or a word in its place; a list without repetition."""

from __future__ import annotations

import math
from typing import Any

from pydantic import AfterValidator, PlainValidator


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError("each may be named once")
    return values


EachOnce = AfterValidator(_each_once)
"""Marks a tuple whose entries must differ: ``Annotated[tuple[int, ...], AsTuple, EachOnce]``."""


def number_or(
    word: str, *, meaning: str = "", below: float = math.inf, most: float = math.inf, optional: bool = False
) -> PlainValidator:
    """Marks a field that takes a number greater than 0, or `word`::

        step: Annotated[float | Literal["auto"], number_or("auto")]

    word: the word, which is kept as it is; integers become floats.
    meaning: what the word stands for, added to the error, such as " for 1/√d".
    below: upper bound of the number, excluded.
    most: upper bound of the number, included.
    optional: whether None passes too.
    """
    positive = "must be a number greater than 0, or" if below == math.inf else None
    says = positive or f"must lie between 0 and {below:g}, both excluded, or be"

    def checked(value: Any) -> Any:
        if (optional and value is None) or (isinstance(value, str) and value == word):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < below and value <= most:
            return float(value)
        raise ValueError(f'{says} "{word}"{meaning}')

    return PlainValidator(checked)
