"""One point of a sweep computed in this process, without workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from simlab.lab.spec import Spec
from simlab.record.segments import Checkpoint, Segment
from simlab.record.writer import Writer


def compute(spec: Spec, tmp_path: Path | None = None, point: int = 0) -> dict[str, Any]:
    """All columns of a point; with `tmp_path` every state goes through a checkpoint file."""
    experiment, streams = spec.at(point), spec.sweep.streams(spec.seed, point)
    work = experiment.prepare(streams)
    state = experiment.start(work, streams)
    rows: dict[str, list[Any]] = {}
    while not experiment.finished(state):
        for name, values in experiment.advance(work, state).items():
            rows.setdefault(name, []).append(np.atleast_1d(values))
        if tmp_path is not None:
            path = Writer(tmp_path, "x", {}).commit({0: Checkpoint(state.arrays(), 0, 0, 1)})
            assert path is not None
            state = experiment.restore(Segment.read(path).checkpoint(0).state)
            work = experiment.prepare(spec.sweep.streams(spec.seed, point))
    return {name: np.concatenate(parts) for name, parts in rows.items()}
