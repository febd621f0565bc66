"""Start simlab commands, wait for an instant of their lives, and kill them."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import ClassVar

import psutil

POLL_SECONDS = 0.002
WORK_SECONDS = 600.0  # that a process has to end its work
EXIT_SECONDS = 60.0  # that it has to end after a signal
EXIT_CODES = {"KILL": -9, "TERM": 143, "INT": 130}


class Violation(Exception):
    """What must never happen; `kind` is lost, differing or failing."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind


class Command:
    """A simlab command that runs. What it and its workers say goes to a file: orphans are not waited for."""

    program: ClassVar[list[str]] = [sys.executable, "-m", "simlab"]

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.stderr = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  closed with the command
        self.process = subprocess.Popen([*self.program, *arguments], stdout=subprocess.DEVNULL, stderr=self.stderr)

    @property
    def said(self) -> str:
        self.stderr.seek(0)
        return self.stderr.read().strip()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def has_workers(self) -> bool:
        try:
            return bool(psutil.Process(self.process.pid).children())
        except psutil.NoSuchProcess:
            return False

    def ended(self) -> tuple[int, str]:
        """Wait for it and be done with it: exit code and what it said."""
        try:
            return self.wait()
        finally:
            self.stderr.close()

    def wait(self, patience: float = WORK_SECONDS) -> tuple[int, str]:
        """Wait for it: exit code and what it said so far; its orphans may say more."""
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise Violation("failing", f"simlab {' '.join(self.arguments)}: no end after {patience:.0f} s") from None
        finally:
            self.process.kill()
        return self.process.returncode, self.said

    def kill(self, name: str, chance: random.Random) -> str:
        """Send the signal; returns what was hit: parent, all (the parent and its workers at once) or worker."""
        if name != "KILL":
            self.process.send_signal(getattr(signal, f"SIG{name}"))
            return "parent"
        try:
            children = psutil.Process(self.process.pid).children()
        except psutil.NoSuchProcess:
            children = []
        target = chance.choice(["parent", "all", "worker"] if children else ["parent"])
        victims = {"parent": [], "all": children, "worker": [chance.choice(children)] if children else []}[target]
        if target != "worker":
            self.process.kill()
        for victim in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        return target


def wait_for(
    command: Command, moment: str, longest: float, writing: Callable[[], bool], look: Callable[[], None],
    chance: random.Random,
) -> bool:  # fmt: skip
    """Wait for an instant of a command's life; returns whether it still runs.

    start: within its first second. any: within `longest` seconds. work: within half of them after it has workers or
    has written a file. commit: a few milliseconds after a half-written file is seen, so that renames and what follows
    them are hit. `look` is called now and then meanwhile.
    """
    began, seen = time.monotonic(), False
    limit = chance.uniform(0.0, {"start": 1.0, "work": longest / 2}.get(moment, longest))
    looked = began
    while command.alive:
        now = time.monotonic()
        if moment == "commit" and not seen and now - began > min(0.3, limit) and writing():
            seen, limit = True, now - began + chance.expovariate(200.0)
        if moment == "work" and not seen and (writing() or command.has_workers()):
            seen, limit = True, now - began + limit
        if (moment not in ("work", "commit") or seen or now - began > 2 * longest) and now - began >= limit:
            return command.alive
        if now - looked > 0.1:
            look()
            looked = time.monotonic()
        time.sleep(POLL_SECONDS)
    return False
