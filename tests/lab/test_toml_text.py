"""The same tables and the same text as tomllib and tomli_w give, whatever the lists."""

from __future__ import annotations

import math
import random
import tomllib
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from simlab.core.errors import BadInput
from simlab.lab.toml_text import LONG_LIST_NUMBERS, dumps, loads

NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
LISTS = st.lists(NUMBERS, min_size=1, max_size=30).map(lambda some: some * (1 + 2 * LONG_LIST_NUMBERS // len(some)))
VALUES = NUMBERS | st.text() | st.booleans() | LISTS | st.lists(st.text(), max_size=3)
TABLES = st.dictionaries(
    st.text(max_size=5), VALUES | st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=4
)


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_as_the_libraries_do(tables: dict[str, Any]) -> None:
    text = dumps(tables)
    assert text == tomli_w.dumps(tables)
    assert loads(text) == tomllib.loads(text) == tables
    assert [type(v) for t in loads(text).values() for v in (t if isinstance(t, list) else [])] == [
        type(v) for t in tables.values() for v in (t if isinstance(t, list) else [])
    ]


LONG = ", ".join(["1.5"] * 3000)
TEXTS = [
    f"a = [{LONG}]  # a remark\nb = 1\n",
    f"a = [{LONG},\n]\n[t]\n'x.y' = [ {LONG} ]\r\nz = [[{LONG}], [1]]\n",
    f"[[t]]\na = [{LONG}]\n[[t]]\na = [{LONG}]\n",
    f'a = """\nb = [{LONG}]\n"""\n',
    f"# c = [{LONG}]\na = '= ['\n",
    f"a = [{LONG}, +1, 1_0, inf]\n",
    f"a = [{LONG}, 2020-01-01]\n",
]
WRONG = [
    f"a = [\n{LONG}\n] b = 1\n",
    f"a = [{LONG}] b = 1\n",
    f"a = [{LONG},,]\n",
    f"a = [{LONG}, 01]\n",
    f"a = [{LONG}, 1.]\n",
    f"a = [{LONG}\nb = 1\n",
    f"a = [1,\n{LONG.replace(', ', ',' + chr(10))}]\nb = = 1\n",
    f"a = [{LONG}]\na = 1\n",
    f"a = [{LONG}, 1\r, 2]\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_long_lists_are_read_as_tomllib_reads_them(text: str) -> None:
    assert loads(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", WRONG)
def test_errors_are_those_of_tomllib_to_the_line(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as mine:
        loads(text)
    with pytest.raises(tomllib.TOMLDecodeError) as other:
        tomllib.loads(text)
    assert str(mine.value).partition("column")[0] == str(other.value).partition("column")[0]


def test_a_million_numbers_never_meet_tomllib(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(0)
    values = [rng.random() * 10.0 ** rng.randint(-300, 300) for _ in range(200_000)]
    text = dumps({"sweep": {"flow.step": values}})
    seen: list[int] = []
    real = tomllib.loads

    def noting(text: str) -> dict[str, Any]:
        seen.append(len(text.replace("\n", "")))
        return real(text)

    monkeypatch.setattr(tomllib, "loads", noting)
    found = loads(text)["sweep"]["flow.step"]
    assert found == values
    assert seen[0] < 200
    assert math.fsum(found) == math.fsum(values)


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 50_000) + " = 1",
        "[" + ".".join(["a"] * 50_000) + "]",
        "x = {" + " . ".join(["'a'"] * 5_000) + " = 1}",
        "x = " + "[" * 5_000 + "]" * 5_000,
        f"x = {'9' * 5_000}",
        "x = [" + "9" * 5_000 + "]",
        "".join(f"key{i} = {i}\n" for i in range(300_000)),
    ],
)
def test_what_would_take_minutes_or_gigabytes_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"^TOML too (large|deep) to read"):
        loads(text)
