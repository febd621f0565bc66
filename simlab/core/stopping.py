"""Signals that ask the process to stop become an exception, `Stopped`, that cannot get lost.

Python drops an exception that is raised inside a finaliser or a weakref callback, and nothing would be left of the
signal. A timer therefore raises `Stopped` again until `acknowledge` is called. Code that cleans up calls it first, and
is not interrupted after that.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

REPEAT_SECONDS = 0.3
"""Time between two raises of `Stopped`."""
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(BaseException):
    """A signal asked us to stop. No Exception, like KeyboardInterrupt, so that ``except Exception`` does not catch it.

    number: the signal's number.
    """

    def __init__(self, number: int) -> None:
        self.number = number


def install(before: Callable[[], None] | None = None) -> None:
    """From now on the signals that ask a process to stop raise `Stopped` in the main thread.

    before: called just before each raise.
    """
    global _before
    _before = before
    for number in SIGNALS:
        if (
            signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGINT
        ):  # under nohup SIGHUP stays ignored
            signal.signal(number, _stop)


def received() -> int:
    """Number of the first signal that was received; 0 where there was none."""
    return _first


def acknowledge() -> None:
    """Stop raising `Stopped`: somebody reacts to it. Does nothing where no signal was received."""
    if _first:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def ignore() -> None:
    """From now on these signals do nothing: they neither interrupt the process nor change its exit code."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


_first = 0
_before: Callable[[], None] | None = None


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    global _first
    _first = number
    ignore()  # only the first signal counts; from here on the timer repeats it
    signal.signal(signal.SIGALRM, _repeat)
    signal.setitimer(signal.ITIMER_REAL, REPEAT_SECONDS, REPEAT_SECONDS)
    if _before is not None:
        _before()
    raise Stopped(number)


def _repeat(number: int, frame: FrameType | None) -> NoReturn:
    if _before is not None:
        _before()
    raise Stopped(_first)
