"""A process on a terminal: what a person would see of it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Collection

STREAMS = ("stdin", "stdout", "stderr")


def shown(arguments: list[str], on: Collection[str], env: dict[str, str]) -> tuple[str, int]:
    """Run Python with these arguments; returns what it shows on a terminal of 80 columns, and its exit code.

    on: the standard streams that are the terminal; the others are closed to the eye.
    env: added to the environment.
    """
    parent, child = pty.openpty()
    streams = {name: child if name in on else subprocess.DEVNULL for name in STREAMS}
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24", **env}
    process = subprocess.Popen([sys.executable, *arguments], env=environment, **streams)  # type: ignore[call-overload]
    os.close(child)
    seen = b""
    try:
        while chunk := os.read(parent, 65536):
            seen += chunk
    except OSError:  # the terminal closes with the process
        pass
    os.close(parent)
    return seen.decode(), process.wait(60)
