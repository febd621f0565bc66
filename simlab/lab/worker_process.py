"""A worker as the parent sees it: its process, what was handed out to it, and what it has told.

The process runs `simlab.lab.worker`; commands and reports are lines of JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from simlab.core.sources import PACKAGE

COMPILED_SECONDS = 0.5  # a worker counts as compiling for so long after a function: the next may follow
# What a worker executes. It imports this very package: after the standard library, before whatever else is installed.
BOOT = """
import os, sys
places = [i for i, path in enumerate(sys.path) if path.endswith("site-packages")]
sys.path.insert(min(places, default=len(sys.path)), sys.argv[1])
try:
    from simlab.lab.worker import main
except Exception as error:
    if "SIMLAB_TRACEBACK" in os.environ:
        raise
    sys.exit(f"simlab: {type(error).__name__}: {error}".splitlines()[0])
main()
"""


@dataclass(eq=False)
class WorkerProcess:
    """One worker as the parent sees it. Times are those of `time.monotonic`, in seconds.

    process: the process; commands go to its standard input, reports come from its standard output.
    began: when it began to work, moved on by the time that it spent compiling.
    assigned: points handed out and not computed yet, in order; the first is under way.
    computed: points computed and not committed yet.
    ready: whether it has started up.
    ending: whether it was told to end.
    count: number of points it has dealt with.
    at: point under way, steps done, steps in all; None before its first report.
    first_at: time and steps done at the first report of that point.
    compiled: number of functions compiled so far.
    compiling_since: when it began to compile; None while it does not.
    compiled_at: when it last ended compiling.
    """

    process: subprocess.Popen[str]
    began: float
    assigned: deque[int] = field(default_factory=deque)
    computed: set[int] = field(default_factory=set)
    ready: bool = False
    ending: bool = False
    count: int = 0
    at: tuple[int, float, float] | None = None
    first_at: tuple[float, float] = (0.0, 0.0)
    compiled: int = 0
    compiling_since: float | None = None
    compiled_at: float = -COMPILED_SECONDS

    @classmethod
    def spawn(cls, threads: int) -> WorkerProcess:
        """Start a process whose libraries use so many threads; it waits for its first command."""
        from simlab.core.code_cache import cache_dir  # imports numba

        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        cache_dir()  # where it must be a temporary one it is made here, so that workers find it
        process = subprocess.Popen(
            # -P: no file of the current directory may stand in for a module.
            [sys.executable, "-P", "-c", BOOT, str(PACKAGE.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **dict.fromkeys(names, str(threads))},
        )
        return cls(process, time.monotonic())

    @property
    def cannot_work(self) -> bool:
        """It still starts up, or compiles."""
        return not self.ready or self.compiling_since is not None

    def note_compiling(self, functions: int, busy: bool, now: float) -> None:
        self.compiled = functions
        if self.compiling_since is None:
            self.compiling_since = now
        if not busy:
            self.began += now - self.compiling_since  # its rate is that of its work
            self.compiling_since, self.compiled_at = None, now
            if self.at is not None:
                self.first_at = (now, self.at[1])

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its death is reported by the end of its output
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def close(self) -> int:
        """Wait for the end of the process and close its pipes; returns its exit code."""
        with contextlib.suppress(BrokenPipeError), self.process:
            pass
        return self.process.wait()
