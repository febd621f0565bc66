"""TOML text ⇄ tables, for axes of a million values: lists of numbers are read and written in one go.

tomllib takes 3 µs per number, the JSON parser 0.1 µs, and the two languages write numbers alike. So long lists are
taken out of the text, read by the JSON parser, and put back into the tables. The result is the same as tomllib's, and
the text written is the same as tomli_w's.
"""

from __future__ import annotations

import json
import re
import secrets
import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w

from simlab.core.errors import BadInput

MOST_LETTERS = 4 << 20
"""Of a TOML text, not counting long lists of numbers. tomllib takes some 2 s for so many."""
MOST_KEY_PARTS = 40
"""Of a dotted key: tomllib's time and memory grow with the square of their number."""
LONG_LIST_LETTERS = 2000  # of a list that is read by the JSON parser
LONG_LIST_NUMBERS = 1000  # of a list that is written in one go
_KEY = re.compile(r"""[A-Za-z0-9_.\-"' \t]+=[ \t]*""")
_END = re.compile(r"[ \t]*(#[^\n]*)?(\n|$)")
_NAME = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_NAME}(?:[ \t]*+\.[ \t]*+{_NAME}){{{MOST_KEY_PARTS}}}")
_NUMBERS = str.maketrans("", "", "0123456789.eE+-, \t\n")

Tables = dict[str, Any]


def loads(text: str) -> Tables:
    """As `tomllib.loads`, with its errors; BadInput for what would take minutes or gigabytes."""
    text = text.replace("\r\n", "\n")
    rest, lists = _without_lists(text)
    if len(rest) > MOST_LETTERS:
        raise BadInput(
            f"TOML too large to read: {len(rest)} letters beside long lists of numbers; at most {MOST_LETTERS}"
        )
    if _LONG_KEY.search(rest):
        raise BadInput(f"TOML too deep to read: a key of more than {MOST_KEY_PARTS} parts")
    try:
        return _with_lists(tomllib.loads(rest), lists)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError) as error:  # a number of 5000 digits, lists 1000 deep
        raise BadInput(f"TOML too large to read: {error}") from None


def dumps(tables: Mapping[str, Any]) -> str:
    """As `tomli_w.dumps`."""
    mark = secrets.token_hex(16)
    lists: dict[str, str] = {}

    def without_long_lists(table: Mapping[str, Any]) -> Tables:
        found: Tables = {}
        for key, value in table.items():
            found[key] = without_long_lists(value) if isinstance(value, Mapping) else value
            if isinstance(value, list) and len(value) > LONG_LIST_NUMBERS and set(map(type, value)) <= {int, float}:
                found[key] = f"{mark} {len(lists)}"
                lists[f'"{found[key]}"'] = "[\n    " + ",\n    ".join(map(str, value)) + ",\n]"
        return found

    text = tomli_w.dumps(without_long_lists(tables))
    for token, numbers in lists.items():
        text = text.replace(token, numbers, 1)
    return text


def _without_lists(text: str) -> tuple[str, dict[str, list[Any]]]:
    """The text with a name in place of each long list of numbers, and the lists by name."""
    lists: dict[str, list[Any]] = {}
    if len(text) < LONG_LIST_LETTERS or '"""' in text or "'''" in text:  # what looks like a list may be inside a string
        return text, lists
    mark = secrets.token_hex(16)
    parts, done, at = [], 0, text.find("[")
    while at >= 0:
        end = text.find("]", at)
        numbers = None
        line = text.rfind("\n", 0, at) + 1
        if end - at > LONG_LIST_LETTERS and _KEY.fullmatch(text, line, at) and (after := _END.match(text, end + 1)):
            numbers = _numbers(text[at + 1 : end])
        if numbers is not None and after:
            name = f"{mark} {len(lists)}"
            lists[name] = numbers
            # As many lines as before, so that errors name the right one.
            parts += [text[done:at], f'"{name}"', "\n" * text.count("\n", at, end)]
            done = end + 1
        at = text.find("[", end if numbers is not None else at + 1)
    return "".join([*parts, text[done:]]), lists


def _numbers(inside: str) -> list[Any] | None:
    """The numbers between brackets; None where there is anything else."""
    if inside.translate(_NUMBERS):
        return None
    inside = inside.strip(" \t\n")
    try:
        found: list[Any] = json.loads(f"[{inside.removesuffix(',')}]")
    except ValueError:  # an error for tomllib to name, or a number in another spelling, +1
        return None
    return found


def _with_lists(tables: Tables, lists: dict[str, list[Any]]) -> Tables:
    """The lists put back, iteratively: tables may be deep."""
    waiting: list[Any] = [tables] if lists else []
    while waiting:
        here = waiting.pop()
        for key, value in here.items():
            if isinstance(value, str) and value in lists:
                here[key] = lists[value]
            elif isinstance(value, dict):
                waiting.append(value)
            elif isinstance(value, list):  # an array of tables, [[figure.curves]]
                waiting += [item for item in value if isinstance(item, dict)]
    return tables
