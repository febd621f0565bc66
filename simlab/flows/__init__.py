"""flows: descent loops and solvers, one file each, on any `problem.Problem`.

A kind defines `Params` (with a field `alpha`) and

- ``start(params, problem, theta0, streams) -> state``: a flat dict of arrays, numbers and Generators that can be saved
  at any time, with theta, step (number made), time and ending (a key of `problem.ENDINGS`, 0 while it goes on);
- ``advance(params, problem, state, until, seconds)``: goes on in place until `until`, an ending, or until about
  `seconds` are over; `until` is a number of steps, or a time where the module says ``CLOCK = "time"``. Where it stops
  may depend on the clock, nothing else may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import lookup

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
