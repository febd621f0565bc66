"""record: HDF5 segments (the unit of commit), the index over them, collating into results.h5, and reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import catalogue

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
