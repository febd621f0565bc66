"""How a sweep is run. No recorded number depends on any of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from simlab.core.errors import BadInput, one_of, shown
from simlab.core.resources import cores
from simlab.lab.spec import Spec

COMMIT_SECONDS = 30.0
Order = Literal["listed", "shuffled"]


@dataclass(frozen=True)
class RunOptions:
    """How a sweep is run.

    workers: number of processes; None: cores / threads of the spec.
    overwrite: throw away what an earlier run left in the directory.
    repair: move damaged segments to ``damaged/`` and compute their points again; without it they are refused.
    order: in which to take points.
    commit_seconds: longest time between commits.
    """

    workers: int | None = None
    overwrite: bool = False
    repair: bool = False
    order: Order = "listed"
    commit_seconds: float = COMMIT_SECONDS

    def __post_init__(self) -> None:
        if self.workers is not None and (type(self.workers) is not int or self.workers < 1):
            raise BadInput(f"workers = {shown(self.workers)}: must be a whole number of at least 1")
        if self.order not in get_args(Order):
            raise BadInput(f"order = {shown(self.order)}: unknown (allowed: {one_of(get_args(Order))})")
        seconds = self.commit_seconds
        if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
            raise BadInput(f"commit_seconds = {shown(seconds)}: must be a number of at least 0")

    def worker_count(self, spec: Spec) -> int:
        """How many workers a run of this spec may have."""
        return self.workers or max(1, cores() // spec.threads)
