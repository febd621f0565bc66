"""What a user gave reaches the terminal as letters, never as commands to it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.core.errors import LONGEST_LINE, BadInput, printable


@given(st.text())
def test_no_control_reaches_the_terminal(text: str) -> None:
    line = str(BadInput(text))
    assert len(line) <= LONGEST_LINE
    assert not {unicodedata.category(c) for c in line if not "\udc80" <= c <= "\udcff"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    "text", ["network.width = -1: must be at least 1", "‖x‖² ≤ √d κ", "1\u202f000 … 中", "tail\udcff"]
)
def test_letters_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


def test_escapes_are_spelt_out() -> None:
    assert printable("a\x1b[31m\r\n\x9b\u202e") == r"a\x1b[31m\r\n\x9b\u202e"
