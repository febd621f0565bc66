"""Types of fields that several rooms share: a positive number, or a word that stands for one."""

from __future__ import annotations

import math
from typing import Any

from pydantic import PlainValidator


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
