"""How far a run is, how fast it goes, and how long it will take.

Points of a sweep differ in cost by orders of magnitude. So the time left is worked out from the experiment's own
estimate of each point's flops, not from the number of points; it is at least that of the slowest point under way. Time
in which workers start or compile counts neither for the rate nor for the time left.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simlab.lab.spec import Spec

WEIGHED_POINTS = 2000  # of different parameters; beyond, all points count alike


@dataclass
class Running:
    """One point under way.

    label: what the user sees of it.
    done: steps done.
    total: steps in all; 0: not known.
    rate: steps per second.
    """

    label: str
    done: float
    total: float
    rate: float


@dataclass
class Compiling:
    """Workers compile code that later runs will find in the cache.

    functions: number compiled so far, by the worker that has compiled the most.
    seconds: time since the first worker began to compile.
    """

    functions: int
    seconds: float


@dataclass
class Snapshot:
    """How far a run is, for whoever shows it.

    points: of the sweep.
    done: points computed, also by earlier processes.
    failed: points that failed in this process.
    elapsed: seconds since this process began.
    rate: points per second, not counting time in which workers start or compile.
    remaining: seconds left; None where nothing is known yet.
    running: points under way.
    compiling: what workers compile now; None if nothing.
    """

    points: int
    done: int
    failed: int
    elapsed: float
    rate: float
    remaining: float | None
    running: list[Running]
    compiling: Compiling | None = None


class Pace:
    """Counts the work of the points that were still to do when this process began."""

    def __init__(self, spec: Spec, points: Iterable[int]) -> None:
        self.spec = spec
        self.began = time.monotonic()
        self._costs: dict[int, float] = {}  # combination of axes → flops
        self._left = {point: self._weight(point) for point in points}
        self._done = 0.0
        self._points = 0
        self._paused = 0.0

    def pause(self, seconds: float) -> None:
        """Leave out these seconds, in which workers could not work."""
        self._paused += seconds

    def _weight(self, point: int) -> float:
        """Flops of a point by the experiment's own estimate, 1 where there are too many points to ask."""
        sweep = self.spec.sweep
        if sweep.combination(sweep.points) > WEIGHED_POINTS:
            return 1.0
        combination = sweep.combination(point)
        if combination not in self._costs:
            flops, _ = self.spec.at(point).cost() or (1.0, 0.0)
            self._costs[combination] = max(1.0, float(flops))
        return self._costs[combination]

    def done(self, point: int) -> None:
        """A point was computed, or has failed."""
        self._done += self._left.pop(point, 0.0)
        self._points += 1

    def snapshot(
        self, now: float, computed: int, failed: int, running: Sequence[tuple[int, float, float, float, float]]
    ) -> Snapshot:
        """How far the run is.

        now: time by `time.monotonic`.
        computed: points computed so far.
        failed: points that failed so far.
        running: per point under way its number, steps done, steps in all, and time and steps done at its first report.
        """
        shown, slowest, fractions = [], 0.0, 0.0
        work, left = self._done, sum(self._left.values())
        for point, done, total, since, first in running:
            rate = (done - first) / (now - since) if now > since else 0.0
            shown.append(Running(self.spec.sweep.label(point), done, total, rate))
            if total:
                fractions += (done - first) / total
                work += self._left.get(point, 0.0) * (done - first) / total  # of this process
                left -= self._left.get(point, 0.0) * done / total
            if rate > 0:
                slowest = max(slowest, (total - done) / rate)
        elapsed = now - self.began
        worked = elapsed - self._paused
        remaining = max(left * worked / work, slowest) if work > 0 else None
        rate = (self._points + fractions) / worked if worked > 0 else 0.0
        return Snapshot(self.spec.sweep.points, computed, failed, elapsed, rate, remaining, shown)
