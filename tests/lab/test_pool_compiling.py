"""The pool's book-keeping of workers that compile: none of that time is work, and what is shown is theirs."""

from __future__ import annotations

from typing import Any

import pytest

from simlab.lab import pool as module
from simlab.lab.pace import Compiling
from simlab.lab.pool import Pool
from simlab.lab.worker_process import WorkerProcess


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


class Recorded:
    """Stands in for the pace: adds up what is not work."""

    paused = 0.0

    def pause(self, seconds: float) -> None:
        self.paused += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def pool_of(*workers: WorkerProcess) -> Any:
    pool: Any = Pool.__new__(Pool)
    pool.workers, pool.pace, pool.ticked_at, pool.first_compiled = list(workers), Recorded(), 0.0, None
    pool.chore, pool.todo, pool.fatal, pool.most_workers = "merge", [], [], len(workers)  # nothing to hand out
    return pool


def worker() -> WorkerProcess:
    process: Any = None
    return WorkerProcess(process, began=0.0, ready=True)


def test_the_share_of_workers_that_compile_is_the_share_of_time_that_is_no_work(clock: Clock) -> None:
    one, other = worker(), worker()
    pool = pool_of(one, other)
    clock.now = 1.0
    pool._tick()
    assert pool.pace.paused == 0.0, "both work"
    pool._handle(one, {"compiling": [0, True]})
    clock.now = 5.0
    pool._tick()
    assert pool.pace.paused == pytest.approx(0.5 * 4.0)
    pool._handle(other, {"compiling": [0, True]})
    clock.now = 7.0
    pool._tick()
    assert pool.pace.paused == pytest.approx(2.0 + 2.0)
    pool._handle(one, {"compiling": [3, False]})
    pool._handle(other, {"compiling": [2, False]})
    clock.now = 9.0
    pool._tick()
    assert pool.pace.paused == pytest.approx(4.0), "both work again"
    assert (one.began, other.began) == (6.0, 2.0), "their own rates do not count it either"


def test_a_worker_that_starts_does_not_work_yet(clock: Clock) -> None:
    one = worker()
    one.ready = False
    pool = pool_of(one)
    clock.now = 2.0
    pool._tick()
    assert pool.pace.paused == pytest.approx(2.0)


def test_what_is_shown_bridges_the_moments_between_functions(clock: Clock) -> None:
    one, other = worker(), worker()
    pool = pool_of(one, other)
    assert pool._compiling(0.0) is None
    clock.now = 10.0
    pool._handle(one, {"compiling": [0, True]})
    pool._handle(other, {"compiling": [4, True]})
    assert pool._compiling(12.0) == Compiling(4, 2.0)
    clock.now = 13.0
    pool._handle(one, {"compiling": [5, False]})
    pool._handle(other, {"compiling": [5, False]})
    assert pool._compiling(13.1) == Compiling(5, pytest.approx(3.1))
    assert pool._compiling(14.0) is None
    clock.now = 600.0
    pool._handle(one, {"compiling": [5, True]})
    assert pool._compiling(602.0) == Compiling(5, 2.0), "the clock of a later time starts anew"


def test_steps_a_second_start_anew_after_compiling(clock: Clock) -> None:
    one = worker()
    pool = pool_of(one)
    pool._handle(one, {"at": [0, 10.0, 50.0]})
    pool._handle(one, {"compiling": [0, True]})
    clock.now = 8.0
    pool._handle(one, {"compiling": [1, False]})
    assert one.first_at == (8.0, 10.0)
