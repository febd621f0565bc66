"""Where data lie: absolute paths are taken as they are, others below the directory of ``--data`` or SIMLAB_DATA."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from simlab.core.errors import BadInput
from simlab.data.files import state_of

VARIABLE = "SIMLAB_DATA"


def data_directory() -> Path | None:
    """The data directory, or None if none is given."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else None


def located(path: str) -> Path:
    """The place of a file or directory of data, whether or not it is there."""
    if Path(path).is_absolute():
        return Path(path)
    home = data_directory()
    if home is None:
        raise BadInput(f"{path}: lies in the data directory, which is not given: use --data DIR or set {VARIABLE}")
    return home / path


def find(name: str, subdirectory: str) -> Path:
    """A file of a set, plain or gzipped; BadInput where it is missing.

    name: of the file, without ``.gz``.
    subdirectory: of the data directory, which is looked into next; or an absolute path.
    """
    below = located(subdirectory)
    places = [below] if Path(subdirectory).is_absolute() else [below, located(".")]
    for place in places:
        for candidate in (place / name, place / f"{name}.gz"):
            with contextlib.suppress(BadInput):
                state_of(candidate)
                return candidate
    looked = " and ".join(os.path.abspath(place) for place in places)
    raise BadInput(f"{name} (or {name}.gz): not found in {looked}")
