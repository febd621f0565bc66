"""Being stopped by a signal: an exception that nothing swallows for good.

The handler raises `Stopped`. Python drops an exception raised inside a finaliser or a weakref callback, and with it the
only word of the signal; so until somebody says `acknowledge` a timer raises it again. Whoever cleans up acknowledges
first, and is not disturbed after.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

AGAIN_SECONDS = 0.3
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(BaseException):
    """A signal asked us to stop. Like KeyboardInterrupt it is no Exception: nothing on the way may swallow it."""

    def __init__(self, number: int) -> None:
        self.number = number


def install(then: Callable[[], None] | None = None) -> None:
    """Turn the signals that ask a process to stop into `Stopped`, in the main thread; `then` is called just before."""
    global _then
    _then = then
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGINT:  # nohup stays nohup
            signal.signal(number, _stop)


def came() -> int:
    """The number of the signal that came, 0 for none."""
    return _first


def acknowledge() -> None:
    """The stop is being served: no further signal disturbs it. Does nothing where no signal came."""
    if _first:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def ignore() -> None:
    """No signal disturbs from here on, nor turns the exit code into its own."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


_first = 0
_then: Callable[[], None] | None = None


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    global _first
    _first = number
    ignore()  # of several at once the first counts; from here on the timer does the repeating
    signal.signal(signal.SIGALRM, _again)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
    if _then is not None:
        _then()
    raise Stopped(number)


def _again(number: int, frame: FrameType | None) -> NoReturn:
    if _then is not None:
        _then()
    raise Stopped(_first)
