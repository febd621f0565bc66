"""A spec as tables: read from a TOML file, or given in Python."""

from __future__ import annotations

import codecs
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simlab.core.errors import BadInput

Tables = dict[str, Any]


def read_tables(path: str | Path) -> Tables:
    """A TOML file as tables; a missing file or a syntax error is one line that says where."""
    path = Path(path)
    try:
        return parse_toml(_decoded(path, path.read_bytes()))
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
