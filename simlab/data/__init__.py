"""data: input laws and sampling.

A kind defines `Params`, ``dimension(params) -> int`` and ``sample(params, n, rng) -> X (n, d)``. Samples are drawn one
after another, so that the first 100 of 200 are those of 100 (unless ``together(params)`` says that they are spread over
the law together). A law without a mean says ``HEAVY_TAIL = True``. Stored data lie in the directory of ``--data`` or
SIMLAB_DATA (`directory`); a kind of a fixed number of rows says ``FINITE = True``, and `splits` keeps training and test
rows of it apart. A kind that reads files defines ``require(params)``, which refuses where they are not there: a run
asks before it writes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import lookup

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
