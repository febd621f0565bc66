"""experiments: what one point of a sweep computes, one file a kind.

A kind defines `Params` and

- ``outputs(params) -> {name: Output}``: every recorded name;
- ``prepare(params, streams) -> work``: data, Gram matrices: re-derivable, never checkpointed;
- ``start(params, work, streams) -> state``: a flat dict of C-contiguous arrays, numbers, strings and Generators;
- ``advance(params, work, state) -> columns``: about half a second of work, then control returns. A name with the
  dimension ``record`` gets an array of new rows, the same number for each; another name its value, once a point.
  Arrays are handed over. How far one call goes may depend on the clock, no recorded number may;
- ``finished(params, state) -> bool``;
- ``progress(params, state) -> (done, total)`` in steps of its own, if it can tell;
- ``cost(params) -> (flops, bytes recorded)``, rough, for ``--dry-run`` and the time left, if it can tell;
- ``memory(params) -> bytes`` of the largest arrays that a point holds, a lower bound, if it can tell;
- `EXAMPLES`: small specs that contract tests run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import catalogue

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
