"""Named random streams. A stream is derived from (root seed, stream name, seed index) and nothing else.

Points of a sweep that differ in other axes therefore share data, target and initialisation: a slope in alpha or in
width is measured on the same draw. For axes listed under ``independent`` the value belongs to the key too.
The key is written as JSON, which keeps its parts apart, and hashed with SHA-256; the 256 bits seed PCG64.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from simlab.core.errors import SimlabError, shown


class Streams:
    """The streams of one point: ``streams["data"]`` is a `numpy.random.Generator`, the same object each time.

    root_seed: the spec's seed.
    seed_index: index of the repetition, from 0.
    independent: axis → value, of the axes whose points draw independently.
    """

    def __init__(self, root_seed: int, seed_index: int = 0, independent: Mapping[str, Any] | None = None) -> None:
        self._key = (root_seed, seed_index, sorted((independent or {}).items()))
        self._streams: dict[str, np.random.Generator] = {}

    def __getitem__(self, name: str) -> np.random.Generator:
        if name not in self._streams:
            root, index, independent = self._key
            digest = hashlib.sha256(json.dumps([root, name, index, independent]).encode()).digest()
            seed = np.random.SeedSequence(int.from_bytes(digest, "little"))
            self._streams[name] = np.random.Generator(np.random.PCG64(seed))
        return self._streams[name]


def dump_generator(generator: np.random.Generator) -> str:
    """The exact state of a generator as JSON, for any of NumPy's bit generators."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, np.ndarray):
            return {"__array__": value.tolist(), "dtype": value.dtype.str}
        return value.item() if isinstance(value, np.generic) else value

    return json.dumps(plain(generator.bit_generator.state))


def load_generator(text: str) -> np.random.Generator:
    """The generator whose state `dump_generator` wrote: its next numbers are the same."""

    def rebuild(value: dict[str, Any]) -> Any:
        return np.array(value["__array__"], dtype=value["dtype"]) if "__array__" in value else value

    state = json.loads(text, object_hook=rebuild)
    kind = getattr(np.random, str(state["bit_generator"]), None)
    # The text is from a file: it must not be able to name anything in np.random but a bit generator.
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise SimlabError(f"checkpoint: bit_generator = {shown(state['bit_generator'])}: no generator of NumPy")
    bits = kind()
    bits.state = state
    return np.random.Generator(bits)


def copy_generator(generator: np.random.Generator) -> np.random.Generator:
    """A copy in the same state: two flows that draw from copies see the same numbers."""
    return load_generator(dump_generator(generator))
