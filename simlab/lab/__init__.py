"""lab: one run. spec.py (TOML → validated), sweep.py (spec → points), run.py (points → segments → results)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import catalogue

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
