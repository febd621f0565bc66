"""Standard output and error that nobody reads, or that are closed, must not keep a command from ending.

Writing to a full pipe waits until somebody reads from it: for ever, if nobody does. Once a signal has asked to stop,
what the streams cannot take at once is thrown away.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from typing import TextIO


def let_go_of_full() -> None:
    """Throw away from here on what goes to a stream that cannot take more."""
    for stream in (sys.stdout, sys.stderr):
        if not _takes_more(stream):
            throw_away(stream)


def throw_away(stream: TextIO | None) -> None:
    """Let whatever is written to this stream, also what waits in Python's buffers, go nowhere."""
    with contextlib.suppress(OSError, ValueError):
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def say(line: str) -> None:
    """One line on standard error; where that is closed there is nobody to tell."""
    from simlab.core.errors import printable

    try:
        print("simlab: " + printable(line), file=sys.stderr, flush=True)
    except OSError:
        throw_away(sys.stderr)


def _takes_more(stream: TextIO | None) -> bool:
    """Whether a line can be written without waiting; what is closed does not wait either."""
    try:
        return stream is None or bool(select.select([], [stream.fileno()], [], 0)[1])
    except (OSError, ValueError):
        return True
