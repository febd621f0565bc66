"""A worker: a spawned process that computes points and commits them in segments of its own.

It reads commands from standard input and writes reports to what was its standard output, both as lines of JSON; what
an experiment prints goes to standard error instead. If standard input closes, the parent is gone and the worker ends at
once, without a word. It ignores SIGINT and SIGTERM: the parent decides. All HDF5 is written here, never in the parent:
here no signal handler can raise inside a call of HDF5.

Commands::

    {"points": [[point, whether it has a checkpoint, attempt], …]}   compute these
    {"fail": [[point, attempt, error], …]}                           record these failures
    {"chore": "merge"}                                               merge segments that earlier processes left
    {"chore": "repair"}                                              set damaged segments aside
    {"collate": true}                                                write results.h5
    {"end": true}                                                    end when all of this is done
    {"stop": true}                                                   commit now and end

Reports, each a key of a message::

    ready         it has started up
    done          points computed
    at            point under way, steps done, steps in all
    committed     points that are on the disk from now on
    compiling     functions compiled so far, whether it still compiles
    failed        point → error
    say           lines for the user
    ended_chore, collated
    refused, cannot_write, broken    an error that no point is to blame for, in one line, and its kind

SIMLAB_TRACEBACK=1 prints the traceback of such an error.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from simlab.record.schema import Output
    from simlab.record.segments import Checkpoint

REPORT_SECONDS = 0.1
FIRST_COMMIT_SECONDS = 1.0
COMMIT_COSTS = 50  # time between commits, in units of what the last one took
COMMIT_BYTES = 64 << 20


class Stop(Exception):
    """The parent asked to stop; everything is committed."""


class Worker:
    """Computes points one after another, and commits what they record."""

    def __init__(self, directory: Path, commit_seconds: float, channel: TextIO) -> None:
        from simlab.lab.directory import RunDirectory
        from simlab.record.provenance import provenance
        from simlab.record.writer import Writer

        self.run = RunDirectory(directory)
        self.spec = self.run.read_spec(computes=False)  # the parent has validated it; points are, one by one
        self.writer = Writer(self.run.segments, self.spec.hash, provenance(), lambda line: self.report(say=[line]))
        self.commit_seconds = commit_seconds
        self.channel = channel
        self.stop = threading.Event()
        self.todo: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.began = self.last_commit = self.last_report = time.monotonic()
        self.last_cost = 0.0  # seconds that the last commit took
        self.done: list[int] = []  # points computed since the last report

    def listen(self, commands: TextIO) -> None:
        """Turn commands into tasks: in a thread of its own, so also while a compiled loop runs."""
        for line in commands:
            try:
                command = json.loads(line)
            except ValueError:  # cut short: the parent was killed while it wrote
                break
            for task in command.get("points", ()):
                self.todo.put(partial(self._compute, *task))
            for point, attempt, error in command.get("fail", ()):
                self.todo.put(partial(self._fail, point, attempt, error, error))
            if "chore" in command:
                self.todo.put(self._merge if command["chore"] == "merge" else self._repair)
            if "collate" in command:
                self.todo.put(self._collate)
            if "end" in command or "stop" in command:
                if "stop" in command:
                    self.stop.set()
                self.todo.put(None)
        os._exit(1)  # the parent is gone

    def report(self, **message: Any) -> None:
        """Send a message to the parent, with the points computed since the last one."""
        if self.done:
            message["done"], self.done = self.done, []
        send(self.channel, message)
        self.last_report = time.monotonic()

    def compiling(self, functions: int, busy: bool) -> None:
        """Report how many functions are compiled, and whether one is being compiled now."""
        if threading.current_thread() is threading.main_thread():  # reports of two threads would mix
            self.report(compiling=[functions, busy])

    def work(self) -> None:
        """Do one task after another until the end, or until the parent asks to stop; commit what is left."""
        from simlab.record.checksum import Damaged

        with contextlib.suppress(Stop):
            self.report(ready=True)
            while (task := self._next()) is not None and not self.stop.is_set():
                try:
                    task()
                except Damaged:  # what this worker has is committed before it is told
                    self._commit({})
                    raise
            self._commit({})

    def _next(self) -> Callable[[], None] | None:
        """The next task; None at the end. Commits while idle for long, reports before waiting."""
        if self.todo.empty():
            self.report()
        while True:
            try:
                return self.todo.get(timeout=1.0)
            except queue.Empty:
                if self.writer.pending and self._due():
                    self._commit({})

    def _compute(self, point: int, has_checkpoint: bool, attempt: int) -> None:
        """Compute a point to its end, or record why it failed."""
        from simlab.core.errors import WriteFailed

        at = self._checkpoint(point) if has_checkpoint else None
        try:
            self._advance_to_end(point, at, attempt)
        except (Stop, WriteFailed):
            raise
        except Exception as error:
            self._fail(point, attempt, _one_line(error), traceback.format_exc())
        else:
            self.done.append(point)
            if self._due():
                self._commit({})
            elif time.monotonic() - self.last_report > REPORT_SECONDS:
                self.report()

    def _fail(self, point: int, attempt: int, error: str, trace: str) -> None:
        self.writer.fail(point, attempt, error, trace)
        self._commit({})

    def _merge(self) -> None:
        index = self.run.index(self.spec)
        self.writer.adopt(index.segments)
        self.report(ended_chore=True)

    def _repair(self) -> None:
        from simlab.lab.results import once_names
        from simlab.record.repair import repair

        said = repair(self.writer, self.run.damaged, self.spec.sweep.points, once_names(self.spec))
        self.report(say=said, ended_chore=True)

    def _collate(self) -> None:
        from simlab.lab.results import collate_run

        self._commit({})
        collate_run(self.run, self.spec)
        self.report(collated=True)

    def _checkpoint(self, point: int) -> Checkpoint:
        """Where the point stands. Looked up here and now: the file that held it may have been merged away since."""
        from simlab.record.index import READ_ATTEMPTS

        for _ in range(READ_ATTEMPTS):
            at = self.run.index(self.spec).checkpoints[point]
            with contextlib.suppress(FileNotFoundError):
                return at.segment.checkpoint(point)
        raise FileNotFoundError(at.segment.path)

    def _advance_to_end(self, point: int, at: Checkpoint | None, attempt: int) -> None:
        from simlab.record.segments import Checkpoint

        experiment = self.spec.at(point)
        streams = self.spec.sweep.streams(self.spec.seed, point)
        outputs = experiment.outputs()
        work = experiment.prepare(streams)
        if at is None:
            state = experiment.start(work, streams)
            at = Checkpoint({}, records=0, attempt=attempt, serial=0)
        else:
            state = experiment.restore(at.state)
            at.attempt = attempt
        while not experiment.finished(state):
            columns = experiment.advance(work, state)
            at.records += self._add(point, at.records, columns, outputs)
            if experiment.finished(state):
                break
            if self.stop.is_set() or self._due():
                at.serial += 1
                at.state = state.arrays()
                self._commit({point: at})
                if self.stop.is_set():
                    raise Stop
            if time.monotonic() - self.last_report > REPORT_SECONDS:
                self.report(at=[point, *experiment.progress(state)])
        self.writer.finish(point, at.records)

    def _add(self, point: int, first: int, columns: dict[str, Any], outputs: dict[str, Output]) -> int:
        """Hand the columns of one `advance` to the writer; returns the number of new records."""
        import numpy as np

        rows: dict[str, Any] = {}
        once: dict[str, Any] = {}
        for name, values in columns.items():
            output = outputs[name]
            array = np.ascontiguousarray(values, dtype=output.dtype)
            if output.is_trajectory:
                rows[name] = array
            else:
                once[name] = array.reshape(1, *np.shape(values))
        self.writer.add(point, -1, once)
        self.writer.add(point, first, rows)
        return len(next(iter(rows.values()))) if rows else 0

    def _due(self) -> bool:
        """Whether to commit: after `commit_seconds` and COMMIT_COSTS times what the last commit took, or COMMIT_BYTES.

        A young worker commits sooner, whenever its age has doubled: a kill never costs more than half of its life.
        """
        now = time.monotonic()
        young = max(FIRST_COMMIT_SECONDS, self.last_commit - self.began)
        wait = max(min(self.commit_seconds, young), COMMIT_COSTS * self.last_cost)
        return now - self.last_commit >= wait or self.writer.nbytes >= COMMIT_BYTES

    def _commit(self, checkpoints: dict[int, Checkpoint]) -> None:
        """Make everything since the last commit durable, and report it."""
        finished, failed = list(self.writer.finished), {p: f.error for p, f in self.writer.failed.items()}
        began = time.monotonic()
        self.writer.commit(checkpoints)
        self.last_commit = time.monotonic()
        self.last_cost = self.last_commit - began
        self.report(committed=finished, failed=failed)


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def send(channel: TextIO, message: dict[str, Any]) -> None:
    """Write one message; where the parent is gone, end at once."""
    try:
        channel.write(json.dumps(message) + "\n")
        channel.flush()
    except (OSError, ValueError):  # the parent is gone
        os._exit(1)


@contextlib.contextmanager
def _reported(channel: TextIO) -> Iterator[None]:
    """Report errors that no point is to blame for: another worker would meet them again."""
    try:
        yield
    except BaseException as error:
        from simlab.core.errors import BadInput, WriteFailed

        if "SIMLAB_TRACEBACK" in os.environ:
            traceback.print_exc()
        kind = "refused" if isinstance(error, BadInput) else "cannot_write" if isinstance(error, WriteFailed) else ""
        send(channel, {kind: str(error)} if kind else {"broken": _one_line(error)})


def main() -> None:
    """Read which run it is, then work until told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    job = json.loads(sys.stdin.readline() or "{}")
    if "directory" not in job:  # the parent was stopped before it could say more
        return
    with _reported(channel):
        from threadpoolctl import threadpool_limits

        worker = Worker(Path(job["directory"]), job["commit_seconds"], channel)
        threading.Thread(target=worker.listen, args=(sys.stdin,), daemon=True).start()
        worker.spec.experiment_class  # noqa: B018  imports BLAS and numba before their threads are limited
        import numba

        from simlab.core.compiling import watch

        watch(worker.compiling)
        numba.set_num_threads(worker.spec.threads)
        with threadpool_limits(worker.spec.threads):
            worker.work()


if __name__ == "__main__":
    main()
