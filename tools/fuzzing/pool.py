"""Cases in worker processes, watched from outside: one that hangs or dies is blamed on its case and replaced."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import multiprocessing
import os
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from fuzzing.judging import TOO_LONG, Judge, Verdict

WALL_SECONDS = 120.0  # by the clock, with no answer: it hangs; beside other work 2 s of CPU once took 30
CHUNK_CASES = 25
START_SECONDS = 120.0


class Cases(Protocol):
    """Numbered cases; what a case is depends on the seed and its number alone."""

    def __init__(self, seed: int, home: Path, judge: Judge) -> None: ...

    def run(self, number: int) -> Verdict: ...


def load(name: str) -> Callable[[int, Path, Judge], Cases]:
    """The class that ``module:Class`` names."""
    module, _, cls = name.partition(":")
    found: Callable[[int, Path, Judge], Cases] = getattr(importlib.import_module(module), cls)
    return found


def serve(conn: Connection, name: str, seed: int, home: str) -> None:
    """A worker: answers case numbers with verdicts, until None comes."""
    # Whatever libraries print goes to a file, whose size tells.
    log = os.open(Path(home) / "log", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(home)
    cases = load(name)(seed, Path(home), Judge(log))
    conn.send("ready")
    while (number := conn.recv()) is not None:
        conn.send(cases.run(number).as_dict())


class Worker:
    """One process and the pipe to it."""

    def __init__(self, name: str, seed: int, home: Path) -> None:
        self.arguments = (name, seed, str(home))
        home.mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.conn, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *self.arguments), daemon=True)
        self.process.start()
        theirs.close()
        if self._answer(START_SECONDS) != "ready":
            log = Path(self.arguments[2]) / "log"
            said = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise RuntimeError(f"a worker did not start: {said}")

    def _answer(self, seconds: float) -> Any:
        """What it says; None if it died or says nothing for so long."""
        try:
            return self.conn.recv() if self.conn.poll(seconds) else None
        except (EOFError, ConnectionError):
            return None

    def run(self, number: int, wall: float) -> Verdict:
        began = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            self.conn.send(number)
        if (answer := self._answer(wall)) is not None:
            return Verdict(**answer)
        self.process.join(1.0)
        code = self.process.exitcode
        what = f"no answer within {wall:g} s" if code is None else f"the process ended, exit code {code}"
        self.stop()
        self.start()
        return Verdict(what, wall=time.monotonic() - began)

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.conn.send(None)
        self.process.join(1.0)
        self.process.kill()
        self.process.join()
        self.conn.close()


def run_all(
    name: str, seed: int, numbers: Iterator[int], workers: int, wall: float = WALL_SECONDS
) -> Iterator[tuple[int, Verdict]]:
    """(number, verdict) of every case, in the order in which they end."""
    lock, found = threading.Lock(), queue.SimpleQueue[Any]()

    def work(home: Path) -> None:
        worker: Worker | None = None
        try:
            worker = Worker(name, seed, home)
            while True:
                with lock:
                    chunk = list(itertools.islice(numbers, CHUNK_CASES))
                if not chunk:
                    return
                for number in chunk:
                    found.put((number, _settled(worker, number, wall)))
        except BaseException as error:
            found.put(error)
        finally:
            if worker is not None:
                worker.stop()
            found.put(None)

    with tempfile.TemporaryDirectory(prefix="simlab-fuzz-") as home:
        threads = [threading.Thread(target=work, args=(Path(home) / str(i),), daemon=True) for i in range(workers)]
        for thread in threads:
            thread.start()
        left = workers
        while left:
            item = found.get()
            if item is None:
                left -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item
        for thread in threads:
            thread.join()


def _settled(worker: Worker, number: int, wall: float) -> Verdict:
    """The verdict; one about time is asked for again, as the first call compiles what the next ones have."""
    verdict = worker.run(number, wall)
    if verdict.outcome.startswith(TOO_LONG):
        verdict = worker.run(number, wall)
    return verdict
