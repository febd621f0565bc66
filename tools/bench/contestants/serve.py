"""A contestant's side of the harness: one JSON object per line, a request on stdin, its reply on stdout.

    prepare {inputs, parameters}  ->  {seconds, versions}      read the inputs, import, build; nothing large yet
    answer {path}                 ->  {seconds}                run once, save a part of the result to an npz file
    run                           ->  {seconds, cpu_seconds}   run once, timed here; cpu is of all threads
    memory                        ->  {peak_mb, rise_mb}       the peak, and its rise over the memory after prepare
    quit

or ``{"missing": why}``, ``{"failed": why}``. A contestant is a script that ends with ``serve(prepare, packages)``. It
runs in its peer's environment, so this file needs NumPy and nothing else; it imports its library in `prepare`, so that
one that is not installed can be reported.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.metadata
import json
import os
import platform
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


class Task(Protocol):
    def run(self) -> Any:
        """The whole result, finished: a library that computes behind one's back is waited for."""

    def answer(self, result: Any) -> Arrays:
        """The part of the result that is compared."""


def status_mb(field: str) -> float:
    """VmRSS (resident now) or VmHWM (its peak) in MB.

    getrusage's peak is only the fallback: on Linux it starts at the memory of the process that started this one.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def serve(prepare: Callable[[dict[str, Any], Arrays], Task], packages: tuple[str, ...] = ()) -> None:
    if sys.platform == "linux":
        # A waiting contestant is stopped, so it would not notice that the harness was killed: die with it.
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    # What a library prints must not be taken for a reply.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    task: Task | None = None
    after_prepare = 0.0

    def handle(request: dict[str, Any]) -> dict[str, Any]:
        nonlocal task, after_prepare
        if request["do"] == "memory":
            peak = status_mb("VmHWM")
            return {"peak_mb": peak, "rise_mb": peak - after_prepare}
        began = time.perf_counter()
        if request["do"] == "prepare":
            with np.load(request["inputs"]) as file:
                inputs = {name: file[name] for name in file.files}
            task = prepare(request["parameters"], inputs)
            versions = {name: importlib.metadata.version(name) for name in ("numpy", *packages)}
            found = {
                "seconds": time.perf_counter() - began,
                "versions": {"python": platform.python_version(), **versions},
            }
            after_prepare = status_mb("VmRSS")
            return found
        assert task is not None, "prepare comes first"
        cpu_began = time.process_time()
        result = task.run()
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        if request["do"] == "answer":
            arrays: dict[str, Any] = task.answer(result)
            np.savez(request["path"], **arrays)
        return {"seconds": seconds, "cpu_seconds": cpu_seconds}

    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "quit":
            break
        try:
            reply = handle(request)
        except ModuleNotFoundError as missing:
            reply = {"missing": str(missing)}
        except Exception as error:
            traceback.print_exc()
            reply = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)
