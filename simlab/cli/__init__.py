"""cli: click commands. Each parses, calls one function and prints; numerics and heavy imports stay out.

Exit codes: 0 done, 1 failed, 2 usage or bad spec, 3 finished with failed points or a claim judged false,
128 + signal number when stopped by SIGINT, SIGTERM or SIGHUP after committing.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn


class Stopped(BaseException):
    """A signal asked us to stop. Like KeyboardInterrupt, not an Exception: nothing on the way may swallow it."""

    def __init__(self, number: int) -> None:
        self.number = number


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    for each in SIGNALS:  # a second one must not cut the commit short
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main() -> None:
    """The entry point: signals first, so that not even the imports can be killed with the wrong exit code."""
    for number in SIGNALS:
        signal.signal(number, _stop)
    code = 0
    try:
        from simlab.cli._app import app
        from simlab.core.errors import SimlabError

        try:
            app(prog_name="simlab", auto_envvar_prefix="SIMLAB")
        except SimlabError as error:
            print(f"simlab: {error}", file=sys.stderr)
            code = error.exit_code
    except Stopped as stop:
        name = signal.Signals(stop.number).name
        print(f"simlab: stopped by {name}; what was committed is kept", file=sys.stderr)
        code = 128 + stop.number
    sys.exit(code)
