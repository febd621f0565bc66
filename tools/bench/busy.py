"""Another process that keeps one core busy, for a bounded time."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence

LOOP = """
import os, sys, time
core, seconds = int(sys.argv[1]), float(sys.argv[2])
if core >= 0:
    os.sched_setaffinity(0, {core})
deadline, parent = time.monotonic() + seconds, os.getppid()
print("busy", flush=True)
while time.monotonic() < deadline and os.getppid() == parent:
    for _ in range(10_000):
        pass
"""
"""Ends by itself at the deadline, and at once where the harness was killed."""


@contextlib.contextmanager
def busy_core(cores: Sequence[int], seconds: float) -> Iterator[int]:
    """Keep the last of `cores` busy, for `seconds` at most; gives the pid. Without cores the process is not pinned."""
    core = cores[-1] if cores else -1
    process = subprocess.Popen([sys.executable, "-c", LOOP, str(core), str(seconds)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        # Computing already, not still starting, when the caller goes on.
        if process.stdout.readline() != b"busy\n":
            raise RuntimeError(f"the process that keeps core {core} busy ended with code {process.wait()}")
        yield process.pid
    finally:
        process.kill()
        process.communicate()
