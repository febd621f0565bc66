"""A small spec to run, and what a run has recorded."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from simlab.core import catalogue


def small_tables(**sweep: Any) -> dict[str, Any]:
    """A gradient_flow spec whose points take milliseconds."""
    tables = deepcopy(catalogue.examples("experiments", "gradient_flow")[0])
    tables["experiment"]["seed"] = 3
    del tables["observables"]
    if sweep:
        tables["sweep"] = sweep
    return tables


def datasets(path: Path) -> dict[str, bytes]:
    """Every dataset of a results.h5, bit for bit."""
    with h5py.File(path) as file:
        return {n: np.asarray(d[()]).tobytes() for n, d in file.items() if isinstance(d, h5py.Dataset)}
