"""theory: what is predicted without a sample: learning curves of kernel regression, and the rates that they follow.

Predictions come from a spectrum and the power of the target by degree; nothing here trains or solves, so that the
agreement of this room with machines and flows is evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import catalogue

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
