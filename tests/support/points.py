"""One point of a sweep computed in this process, without workers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simlab.lab.spec import Spec


class Point(NamedTuple):
    """What a point gave: its columns, the work, and the state at the end."""

    columns: dict[str, Any]
    work: Any
    state: Any


def follow(spec: Spec) -> Point:
    """The first point of a spec, from start to end."""
    experiment, streams = spec.at(0), spec.sweep.streams(spec.seed, 0)
    work = experiment.prepare(streams)
    state = experiment.start(work, streams)
    rows: dict[str, list[Any]] = {}
    while not experiment.finished(state):
        for name, values in experiment.advance(work, state).items():
            rows.setdefault(name, []).append(np.atleast_1d(values))
    return Point({name: np.concatenate(parts) for name, parts in rows.items()}, work, state)


def compute(spec: Spec) -> dict[str, Any]:
    """Its columns alone."""
    return follow(spec).columns
