"""What is put into error lines stays short, and is shown as it is where it is short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.core.errors import LONGEST_LINE, LONGEST_VALUE, BadInput, shown

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=40)


@given(VALUES)
def test_a_shown_value_is_one_short_line(value: Any) -> None:
    text = shown(value)
    assert len(text) <= LONGEST_VALUE + 3
    assert "\n" not in text


@pytest.mark.parametrize("value", ["a", 3, 1.5, [1, 2], {"kind": "relu"}, (1,), None, True, [[1, 2], [3]]])
def test_a_short_value_is_shown_as_it_is(value: Any) -> None:
    assert shown(value) == repr(value)


def test_what_is_huge_is_abridged() -> None:
    huge: list[Any] = [10**5000, -(10**5000), "x" * 10**6, list(range(10**6)), np.arange(1e5), [[[[[[["deep"]]]]]]]]
    for value in [*huge, huge]:
        assert len(shown(value)) <= LONGEST_VALUE + 3


class Unprintable:
    def __repr__(self) -> str:
        raise ZeroDivisionError


def test_a_value_that_cannot_be_printed_is_named_by_its_type() -> None:
    assert "Unprintable" in shown(Unprintable())


def test_an_error_is_one_line_under_500_letters_whatever_is_in_it() -> None:
    assert str(BadInput("width = -1: must be at least 1")) == "width = -1: must be at least 1"
    line = str(BadInput("begins\n" + "x" * 100_000 + "ends"))
    assert len(line) <= LONGEST_LINE < 500
    assert line.startswith("begins\\nx")
    assert line.endswith("xends")
