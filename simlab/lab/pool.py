"""The parent's side of a run: spawns workers, hands out points, replaces workers that die, reports progress.

Workers are separate processes in sessions of their own (`simlab.lab.worker`), never forks: a fork after OpenMP has
started kills the child, and ctrl-C must reach the parent only. The parent writes no HDF5, because a signal may raise in
it at any instant. A point counts as finished when the segment that holds its end is committed. Points that a dead
worker had not committed are handed out again. A point at which MOST_DEATHS workers died is failed.
"""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Literal

from simlab.core import stopping
from simlab.core.errors import BadInput, SimlabError, WriteFailed
from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.pace import Compiling, Pace, Snapshot
from simlab.lab.spec import Spec
from simlab.lab.worker_process import COMPILED_SECONDS, WorkerProcess
from simlab.record.index import Index

MOST_DEATHS = 3
GRACE_SECONDS = 1.5  # a stopped run waits so long for its workers to commit
AHEAD_SECONDS = 0.5  # work handed out ahead of time, so that short points do not wait for the parent
SNAPSHOT_SECONDS = 0.2  # between two reports of progress
Chore = Literal["merge", "repair"]
"""What one worker does before points are handed out: merge old segments, or repair damage and do nothing else."""


class Pool:
    """The workers of one run, and what is still to do."""

    def __init__(
        self,
        run: RunDirectory,
        spec: Spec,
        index: Index,
        points: Iterable[int],
        options: RunOptions,
        *,
        progress: Callable[[Snapshot], None] = lambda snapshot: None,
        say: Callable[[str], None] = lambda line: None,
        chore: Chore | None = None,
    ) -> None:
        """A pool that has no workers yet.

        index: what earlier processes committed.
        points: points to compute, in order.
        progress: called a few times per second.
        say: called with remarks for the user, one line each.
        chore: what one worker does first.
        """
        self.run, self.spec, self.index = run, spec, index
        self.progress, self.say = progress, say
        self.commit_seconds = options.commit_seconds
        self.most_workers = options.worker_count(spec)
        self.workers: list[WorkerProcess] = []
        # Reports of all workers, in the order in which they came; None: the worker's output has ended.
        self.inbox: queue.SimpleQueue[tuple[WorkerProcess, dict[str, Any] | None]] = queue.SimpleQueue()
        self.todo: deque[int] = deque(points)
        self.chore = chore
        self.collated = chore == "repair"  # repairing does not collate
        self.deaths: dict[int, int] = {}  # point → workers that died at it
        self.deaths_since_commit = 0
        self.fatal: list[tuple[int, int, str]] = []  # point, attempt, error of points to be recorded as failed
        self.attempts = {point: failure.attempt + 1 for point, failure in index.failed.items()}
        self.failed: dict[int, str] = {}  # point → error
        self.finished = set(index.finished)
        self.pace = Pace(spec, self.todo)
        self.shown_at = 0.0  # when progress was last reported
        self.ticked_at = self.pace.began  # when `_tick` was last called
        self.first_compiled: float | None = None  # when a worker first compiled, of those that do now

    def work(self) -> dict[int, str]:
        """Compute every point, then collate; returns the failed points with their errors."""
        try:
            while self.workers or self.chore or not self.collated:
                self._hire()
                self._tick()
                self._show()
                with contextlib.suppress(queue.Empty):
                    self._handle(*self.inbox.get(timeout=SNAPSHOT_SECONDS))
                    while True:
                        self._handle(*self.inbox.get_nowait())
        except BaseException:
            stopping.acknowledge()
            self.stop()
            raise
        self._show(force=True)
        return self.failed

    def stop(self) -> None:
        """Let the workers commit for GRACE_SECONDS, then end them; one that still starts up has nothing to commit."""
        try:
            for worker in self.workers:
                if worker.ready:
                    worker.send(stop=True)
                else:
                    worker.process.kill()
            deadline = time.monotonic() + GRACE_SECONDS
            for worker in self.workers:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    worker.process.wait(max(0.0, deadline - time.monotonic()))
        finally:  # also after a second ctrl-C in a script
            for worker in self.workers:
                worker.process.kill()
                worker.close()
            self.workers = []

    def _hire(self) -> None:
        """Spawn as many workers as there is work for: one while segments are merged or repaired, and one to collate."""
        busy = sum(bool(worker.assigned) for worker in self.workers)
        useful = 1 if self.chore or not (self.todo or busy) else min(self.most_workers, len(self.todo) + busy)
        needed = self.chore or self.todo or self.fatal or not (self.workers or self.collated)
        while needed and len(self.workers) < useful:
            self._spawn()

    def _spawn(self) -> None:
        worker = WorkerProcess.spawn(self.spec.threads)
        self.workers.append(worker)
        worker.send(directory=str(self.run.path.resolve()), commit_seconds=self.commit_seconds)
        if self.chore:
            worker.send(chore=self.chore)
        self._assign(worker)
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()

    def _listen(self, worker: WorkerProcess) -> None:
        assert worker.process.stdout is not None
        with contextlib.suppress(ValueError):  # a line cut short by a kill
            for line in worker.process.stdout:
                self.inbox.put((worker, json.loads(line)))
        self.inbox.put((worker, None))

    def _assign(self, worker: WorkerProcess) -> None:
        """Keep about AHEAD_SECONDS of work with the worker, and never more than its fair share of what is left.

        A worker for which nothing is left is told to end. The last one collates first: all others are gone by then, so
        that everything is committed.
        """
        if self.chore or worker.ending:
            return
        if self.fatal:
            worker.assigned.extend(point for point, _, _ in self.fatal)
            worker.send(fail=self.fatal)
            self.fatal = []
        rate = worker.count / max(time.monotonic() - worker.began, 1e-3)
        fair = -(-len(self.todo) // (2 * self.most_workers))
        ahead = max(1, min(int(rate * AHEAD_SECONDS), fair))
        batch = []
        while self.todo and len(worker.assigned) < ahead:
            point = self.todo.popleft()
            batch.append((point, point in self.index.checkpoints, self._attempt(point)))
            worker.assigned.append(point)
        if batch:
            worker.send(points=batch)
        if worker.assigned or self.todo:
            return
        last = all(other.ending for other in self.workers if other is not worker)
        if not last or len(self.workers) == 1:
            worker.ending = True
            if last and not self.collated:
                worker.send(collate=True)
            worker.send(end=True)

    def _attempt(self, point: int) -> int:
        checkpoint = self.index.checkpoints.get(point)
        return self.attempts.get(point, checkpoint.reached.attempt if checkpoint else 0)

    def _handle(self, worker: WorkerProcess, message: dict[str, Any] | None) -> None:
        if message is None:
            self._on_exit(worker)
            return
        now = time.monotonic()
        if "ready" in message:
            worker.ready, worker.began = True, now
        if "compiling" in message:
            functions, busy = message["compiling"]
            worker.note_compiling(functions, busy, now)
            self.first_compiled = self.first_compiled or now
        if "cannot_write" in message:
            raise WriteFailed(
                f"{message['cannot_write']}; what was committed is kept; make room, then `simlab resume"
                f" {self.run.path}`"
            )
        if "refused" in message:
            raise BadInput(message["refused"])
        if "broken" in message:
            raise SimlabError(f"{message['broken']} (SIMLAB_TRACEBACK=1 prints where)")
        for point in message.get("done", ()):
            worker.assigned.remove(point)
            worker.computed.add(point)
            self.pace.done(point)
            worker.count += 1
            worker.at = None
        for point in message.get("committed", ()):
            worker.computed.discard(point)
            self.finished.add(point)
            self.deaths_since_commit = 0
        for key, error in message.get("failed", {}).items():
            self.failed[int(key)] = error
            self.pace.done(int(key))
            worker.at = None
            worker.assigned.remove(int(key))
            worker.count += 1
        if "at" in message:
            point, done, total = message["at"]
            if worker.at is None or worker.at[0] != point:
                worker.first_at = (now, done)
            worker.at = (point, done, total)
        for line in message.get("say", ()):
            self.say(line)
        if "ended_chore" in message:
            self.chore = None
            self.index = self.run.index(self.spec)
        if "collated" in message:
            self.collated = True
        self._assign(worker)

    def _on_exit(self, worker: WorkerProcess) -> None:
        """A worker's output has ended: it ended as it was told to, or died."""
        code = worker.close()
        self.workers.remove(worker)
        lost = [*sorted(worker.computed), *worker.assigned]
        if code or lost:
            self._reassign(worker, code, lost)
        for other in self.workers:
            self._assign(other)

    def _reassign(self, worker: WorkerProcess, code: int, lost: list[int]) -> None:
        """Hand out again what a dead worker had not committed; give up on a point that keeps killing workers."""
        if not worker.ready and code > 0:
            raise SimlabError(f"a worker could not start ({_cause(code)})")
        self.deaths_since_commit += 1
        if self.deaths_since_commit > 2 * MOST_DEATHS * self.most_workers:
            raise SimlabError(f"workers die before anything is committed ({_cause(code)})")
        if worker.ready and worker.assigned:
            suspect = worker.assigned[0]
            self.deaths[suspect] = self.deaths.get(suspect, 0) + 1
            if self.deaths[suspect] >= MOST_DEATHS:
                lost.remove(suspect)
                error = f"{MOST_DEATHS} workers died at this point ({_cause(code)})"
                self.fatal.append((suspect, self._attempt(suspect), error))
        if self.chore == "repair":
            return  # nothing was handed out, and an index cannot be read while the damage is there
        # The dead worker may have committed since the index was read.
        self.index = self.run.index(self.spec)
        self.finished = set(self.index.finished)
        self.todo.extendleft(point for point in reversed(lost) if point not in self.index.finished)

    def _tick(self) -> None:
        """Leave the time in which workers cannot work out of the pace."""
        now = time.monotonic()
        if self.workers:
            share = sum(worker.cannot_work for worker in self.workers) / len(self.workers)
            self.pace.pause(share * (now - self.ticked_at))
        self.ticked_at = now

    def _compiling(self, now: float) -> Compiling | None:
        busy = any(w.compiling_since or now - w.compiled_at < COMPILED_SECONDS for w in self.workers)
        if not busy or self.first_compiled is None:
            self.first_compiled = None
            return None
        return Compiling(max(worker.compiled for worker in self.workers), now - self.first_compiled)

    def _show(self, force: bool = False) -> None:
        now = time.monotonic()
        if now - self.shown_at >= SNAPSHOT_SECONDS or force:
            self.shown_at = now
            computed = len(self.finished) + sum(len(worker.computed) for worker in self.workers)
            running = [(*worker.at, *worker.first_at) for worker in self.workers if worker.at is not None]
            shot = self.pace.snapshot(now, computed, len(self.failed), running)
            shot.compiling = self._compiling(now)
            self.progress(shot)


def _cause(code: int) -> str:
    if code < 0:
        killed = " killed, perhaps out of memory" if code == -signal.SIGKILL else ""
        return f"signal {-code}:{killed or ' ' + signal.Signals(-code).name}"
    return f"exit code {code}"
