"""Where data lie: absolute paths are taken as they are, others below the directory of ``--data`` or SIMLAB_DATA."""

from __future__ import annotations

import os
from pathlib import Path

from simlab.core.errors import BadInput

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
