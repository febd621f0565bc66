"""A spec as tables: read from a TOML file, or given in Python; and as it was given, word for word."""

from __future__ import annotations

import codecs
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from simlab.core.errors import BadInput

Tables = dict[str, Any]
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
    def parse(cls, dumped: str) -> Given:
        text, mark, settings = dumped.rpartition(SETTINGS_MARK)
        if not mark:
            return cls(dumped)
        return cls(text, tuple(json.loads(line.removeprefix(SETTING)) for line in settings.splitlines()))


def read_tables(path: str | Path) -> Tables:
    """A TOML file as tables; a missing file or a syntax error is one line that says where."""
    return read_file(path)[0]


def read_file(path: str | Path) -> tuple[Tables, str]:
    """The tables of a TOML file, and its text."""
    path = Path(path)
    try:
        text = _decoded(path, path.read_bytes())
        return parse_toml(text), text
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: TOML syntax error: {_shortened(str(error), 200)}") from None


def _decoded(path: Path, content: bytes) -> str:
    """The text of a TOML file, which is UTF-8; the mark that some editors put before it is dropped."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content[:100]:
        what = "is UTF-16 or binary" if len(content) > 1 else "is not text"
        raise BadInput(f"{path}: {what}, but TOML is UTF-8; save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadInput(f"{path}: line {line} is not UTF-8; save it as UTF-8") from None


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plain(tables: Mapping[str, Any]) -> Tables:
    """Tables of Python as TOML would give them: tuples and arrays as lists, NumPy's numbers as Python's."""

    def walk(value: Any, key: str) -> Any:
        if isinstance(value, Mapping):
            for name in value:
                if not isinstance(name, str):
                    raise BadInput(f"{key or 'spec'}: the key {name!r} must be a string")
            return {name: walk(item, f"{key}.{name}" if key else name) for name, item in value.items()}
        if isinstance(value, np.ndarray | np.generic):
            return walk(value.tolist(), key)
        if isinstance(value, list | tuple):
            return [walk(item, key) for item in value]
        if isinstance(value, Path):
            return str(value)
        if not isinstance(value, str | int | float):
            raise BadInput(f"{key} = {_shortened(repr(value), 100)}: must be a string, a number, a list or a table")
        return value

    found: Tables = walk(tables, "")
    return found


def parse_toml(text: str) -> Tables:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError) as error:  # a number of 5000 digits, lists 1000 deep
        raise BadInput(f"TOML too large to read: {error}") from None


def given_tables(tables: Mapping[str, Any], settings: tuple[str, ...] = ()) -> Given:
    """Tables of Python as a user gave them."""
    return Given(_toml(tables), settings)


def _toml(tables: Mapping[str, Any]) -> str:
    """Tables as TOML; a key that is None counts as left out."""

    def there(value: Any) -> Any:
        return {k: there(v) for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value

    try:
        return tomli_w.dumps(there(tables))
    except TypeError as error:
        raise BadInput(f"spec: {error}; give numbers, strings, booleans, lists and tables") from None
