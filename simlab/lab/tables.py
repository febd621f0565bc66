"""A spec as tables: read from a TOML file, or given in Python; and as it was given, word for word."""

from __future__ import annotations

import codecs
import json
import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simlab.core.errors import BadInput, shown
from simlab.lab import toml_text
from simlab.lab.toml_text import Tables

parse_toml = toml_text.loads
MOST_BYTES = 64 << 20
"""Of a spec file that a user gives."""
INTEGER_BITS = 128  # as many as a seed may have
MOST_LEVELS = 30
"""Of tables and lists inside each other."""
SETTINGS_MARK = "\n# Given beside this file:\n"
SETTING = "# --set "


@dataclass(frozen=True)
class Given:
    """A spec as the user gave it. A run directory keeps it as one file, results.h5 as attributes.

    text: the TOML file word for word, comments included; of a dict, its TOML.
    settings: those of ``--set``, in order.
    """

    text: str
    settings: tuple[str, ...] = ()

    def dump(self) -> str:
        """The text, and settings as comments behind it, so that the whole is TOML."""
        if not self.settings and SETTINGS_MARK not in self.text:
            return self.text
        return self.text + SETTINGS_MARK + "".join(f"{SETTING}{json.dumps(one)}\n" for one in self.settings)

    @classmethod
    def of(cls, tables: Mapping[str, Any], settings: tuple[str, ...] = ()) -> Given:
        """Of tables that were given in Python."""
        return cls(_toml(tables), settings)

    @classmethod
    def parse(cls, dumped: str) -> Given:
        """What `dump` wrote."""
        text, mark, settings = dumped.rpartition(SETTINGS_MARK)
        if not mark:
            return cls(dumped)
        return cls(text, tuple(json.loads(line.removeprefix(SETTING)) for line in settings.splitlines()))


def read_file(path: str | Path, most_bytes: int = MOST_BYTES) -> tuple[Tables, str]:
    """The tables of a TOML file, and its text; a missing file or a syntax error is one line that says where."""
    path = Path(path)
    try:
        text = read_text(path, most_bytes)
        return toml_text.loads(text), text
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: TOML syntax error: {_shorten(str(error), 200)}") from None
    except ValueError:  # a zero byte in the name
        raise BadInput(f"{path}: no such file") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}" if str(error).startswith("TOML") else str(error)) from None


def read_text(path: Path, most_bytes: int) -> str:
    """The text of a regular file, which is UTF-8."""
    return _decode(path, _read_bytes(path, most_bytes))


def _read_bytes(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file. A pipe or a device may never end: it is not even waited for."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise BadInput(f"{path}: is a directory; give a TOML file")
        if not stat.S_ISREG(found.st_mode):
            raise BadInput(f"{path}: is not a regular file; save the spec as a file first")
        if found.st_size > most_bytes:
            raise BadInput(f"{path}: {found.st_size} bytes; a spec has at most {most_bytes}")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(min(most_bytes, found.st_size + 1))  # what is asked for is allocated
    finally:
        os.close(descriptor)


def _decode(path: Path, content: bytes) -> str:
    """The text of a TOML file, which is UTF-8; the mark that some editors put before it is dropped."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content[:100]:
        what = "is UTF-16 or binary" if len(content) > 1 else "is not text"
        raise BadInput(f"{path}: {what}, but TOML is UTF-8; save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadInput(f"{path}: line {line} is not UTF-8; save it as UTF-8") from None


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plain(tables: Mapping[str, Any]) -> Tables:
    """Tables of Python as TOML would give them: tuples and arrays as lists, NumPy's numbers as Python's."""

    def walk(value: Any, key: str, depth: int) -> Any:
        if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
            raise BadInput(f"{key} = {shown(value)}: must fit into {INTEGER_BITS} bits")
        if isinstance(value, str | int | float) and not isinstance(value, np.generic):
            return value
        if depth > MOST_LEVELS:
            raise BadInput(TOO_DEEP)
        if isinstance(value, Mapping):
            for name in value:
                if not isinstance(name, str):
                    raise BadInput(f"{key or 'spec'}: the key {shown(name)} must be a string")
            return {name: walk(item, f"{key}.{name}" if key else name, depth + 1) for name, item in value.items()}
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise BadInput(f"{key} = {shown(value)}: has masked entries; give numbers")
        if isinstance(value, np.ndarray | np.generic):
            return walk(value.tolist(), key, depth + 1)
        if isinstance(value, list | tuple):
            return [walk(item, key, depth + 1) for item in value]
        if isinstance(value, Path):
            return str(value)
        raise BadInput(f"{key} = {shown(value)}: must be a string, a number, a list or a table")

    found: Tables = walk(tables, "", 0)
    return found


TOO_DEEP = f"spec: tables and lists are more than {MOST_LEVELS} deep"


def copy_tables(tables: Mapping[str, Any]) -> Tables:
    """A copy that shares no table and no list; refuses what is too deep, or holds itself."""

    def walk(value: Any, depth: int) -> Any:
        if depth > MOST_LEVELS:
            raise BadInput(TOO_DEEP)
        if isinstance(value, dict):
            return {key: walk(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item, depth + 1) if isinstance(item, list | dict) else item for item in value]
        return value

    found: Tables = walk(dict(tables), 0)
    return found


def assign(tables: Tables, parts: list[str], value: Any, what: str) -> None:
    """Put a value at a dotted key; `what` names it in errors."""
    here = tables
    for part in parts[:-1]:
        inner = here.setdefault(part, {})
        if isinstance(inner, str):  # a bare name is a table with nothing but kind
            inner = here[part] = {"kind": inner}
        if not isinstance(inner, dict):
            raise BadInput(f"{what}: {part} = {shown(inner)} is not a table")
        here = inner
    here[parts[-1]] = value


def with_values(tables: Mapping[str, Any], values: Mapping[str, Any]) -> Tables:
    """A copy of the tables with the values of a point of the sweep, by dotted key, put in."""
    point = copy_tables(tables)
    for key, value in sorted(values.items(), key=lambda item: item[0].count(".")):  # whole tables first
        assign(point, key.split("."), copy_tables({"": value})[""], f"sweep.{key}")
    return point


def _toml(tables: Mapping[str, Any]) -> str:
    """Tables as TOML; a key that is None counts as left out."""

    def without_none(value: Any) -> Any:
        return {k: without_none(v) for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value

    try:
        return toml_text.dumps(without_none(tables))
    except (TypeError, ValueError) as error:  # ValueError: an integer of 5000 digits
        raise BadInput(f"spec: {error}; give numbers, strings, booleans, lists and tables") from None
