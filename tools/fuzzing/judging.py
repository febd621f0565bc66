"""One call judged: it returned, it refused in one line, or it is a violation.

A violation is any of: an exception that is not meant for people; an error line that is long, has line breaks or
control characters; a warning; output that nobody asked for; too much time; too much memory; an import of a module
that a spec names; data read that are not the data written.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
import time
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from simlab.core.errors import SimlabError

CPU_SECONDS = 5.0  # of all threads together: what else runs on the machine does not count
TOO_LONG = f"over {CPU_SECONDS:g} s of CPU time"
MEMORY_BYTES = 1 << 30  # of the whole process
LINE_LETTERS = 500
PROGRESS = "simlab: checking the points"  # said where a sweep is so long that checking it takes seconds
READ_LETTERS = 2_000_000  # whoever reads what is printed leaves then: a million points are a hundred million letters
PLANTED = "fuzz_planted"  # a module on the path that nothing may import
ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")


@dataclass
class Verdict:
    """What came of one case.

    outcome: "accepted", "refused", or what was violated, in one line that is the same for the same fault.
    detail: the error's text, or how it differs.
    line: letters of the error line.
    seconds: CPU time.
    wall: seconds by the clock.
    memory: largest resident memory of the process in bytes, as far as this case is the cause.
    about: what the case is, in words.
    """

    outcome: str
    detail: str = ""
    line: int = 0
    seconds: float = 0.0
    wall: float = 0.0
    memory: int = 0
    about: str = ""
    trace: str = field(default="", repr=False)

    @property
    def is_violation(self) -> bool:
        return self.outcome not in ("accepted", "refused")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Wrong(Exception):
    """Found by a case itself: damaged data that were read as if they were sound."""


class TooLong(BaseException):
    """Raised by the timer inside the case; no `except Exception` swallows it."""


class _Pipe(io.StringIO):
    """Standard output, read by somebody who leaves after a while."""

    left = 0

    def write(self, text: str) -> int:
        self.left += len(text)
        if self.left > READ_LETTERS:
            raise BrokenPipeError
        return len(text)


OWN_BYTES = 400 << 20
"""What Python with simlab's libraries takes; beyond that the process holds what others left in it, as in tests."""


class Judge:
    """Runs calls one after another in this process (in its main thread, for the timer), each with fresh limits.

    log: file descriptor that standard output and error of the whole process go to, None where they are not redirected.
    """

    def __init__(self, log: int | None = None, seconds: float = CPU_SECONDS, memory: int = MEMORY_BYTES) -> None:
        self.log, self.seconds, self.memory = log, seconds, memory
        self.base = min(_resident(), OWN_BYTES)
        self.memory_may_end = False  # a file may hold more than there is memory: then one line is right

    def __call__(self, action: Callable[[], object]) -> Verdict:
        """Run `action` and judge it."""
        before, logged = _resident(), self._logged()
        out, err = _Pipe(), io.StringIO()
        began, wall = time.process_time(), time.monotonic()
        _forget_peak()
        with warnings.catch_warnings(record=True) as warned, contextlib.ExitStack() as stack:
            warnings.simplefilter("always")
            stack.enter_context(contextlib.redirect_stdout(out))
            stack.enter_context(contextlib.redirect_stderr(err))
            stack.enter_context(self._memory_limit())
            verdict = self._timed(action)
        verdict.seconds, verdict.wall = time.process_time() - began, time.monotonic() - wall
        verdict.memory = self.base + max(0, _peak() - before)
        if not verdict.is_violation:
            verdict.outcome = self._side_effect(verdict, warned, err.getvalue(), logged) or verdict.outcome
        return verdict

    def _side_effect(self, verdict: Verdict, warned: list[Any], said: str, logged: int) -> str:
        """What was violated although the outcome is right, "" if nothing."""
        if PLANTED in sys.modules:
            del sys.modules[PLANTED]
            return "a module that the spec names was imported"
        if warned:
            one = warned[0]
            verdict.detail = str(one.message)[:300]
            return f"warning {one.category.__name__} at {_place(one.filename, one.lineno)}"
        said = "".join(line for line in said.splitlines(True) if not line.startswith(PROGRESS))
        if said or self._logged() != logged:
            verdict.detail = said[:300]
            return "output on standard error" if said else "output from a library"
        if verdict.seconds > self.seconds:
            return f"{TOO_LONG} in all"
        if verdict.memory > self.memory:
            return "over the memory limit"
        return ""

    def _timed(self, action: Callable[[], object]) -> Verdict:
        here: FrameType | None = None

        def stop(number: int, frame: FrameType | None) -> None:
            nonlocal here
            here = frame
            raise TooLong

        old = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, self.seconds * 1.05)
        try:
            try:
                action()
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0.0)
            return Verdict("accepted")
        except TooLong:
            stack = _stack(here)
            return Verdict(f"{TOO_LONG} in {stack.partition(' ')[0]}", detail=stack)
        except BrokenPipeError:
            return Verdict("accepted")  # it was printing
        except BaseException as error:
            return judged_error(error, self.memory_may_end)
        finally:
            signal.signal(signal.SIGPROF, old)

    @contextlib.contextmanager
    def _memory_limit(self) -> Iterator[None]:
        """Address space ends `memory` above what is in use now."""
        old = resource.getrlimit(resource.RLIMIT_AS)
        most = _address_space() + self.memory
        resource.setrlimit(resource.RLIMIT_AS, (most if old[1] < 0 else min(most, old[1]), old[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, old)

    def _logged(self) -> int:
        return 0 if self.log is None else os.fstat(self.log).st_size


def judged_error(error: BaseException, memory_may_end: bool = False) -> Verdict:
    """What an exception amounts to; `memory_may_end` allows an error for people that a lack of memory is behind."""
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, Wrong):
        return Verdict(f"silently wrong: {error}", trace=trace)
    where = _where(error)
    if _from_memory(error) and not (memory_may_end and isinstance(error, SimlabError)):
        return Verdict(f"memory exhausted at {where}", detail=str(error)[:300], trace=trace)
    if isinstance(error, click.UsageError):
        from simlab.cli import usage

        line = usage.in_one_line(error)
    elif isinstance(error, SimlabError):
        line = str(error)
    else:
        return Verdict(f"{type(error).__name__} at {where}", detail=_text(error)[:300], trace=trace)
    bad = bad_line(line)
    return Verdict(f"{bad}, raised at {where}" if bad else "refused", detail=line[:600], line=len(line), trace=trace)


def bad_line(line: str) -> str:
    """What is wrong with an error line, "" if nothing."""
    if len(line) >= LINE_LETTERS:
        return f"an error line of {LINE_LETTERS} letters or more"
    if not line.strip():
        return "an empty error line"
    if len(line.splitlines()) > 1:
        return "an error of several lines"
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in line):
        return "control characters in an error line"
    return ""


def _from_memory(error: BaseException | None) -> bool:
    """Whether a lack of memory is behind it: with more memory more would have been taken."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _where(error: BaseException) -> str:
    """The innermost line of simlab that the exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if "simlab" in f.filename and "fuzzing" not in f.filename] or frames[-1:]
    return _place(inside[-1].filename, inside[-1].lineno or 0) if inside else "?"


def _stack(frame: FrameType | None) -> str:
    """The lines of simlab that were being run, innermost first."""
    found: list[str] = []
    while frame is not None and len(found) < 6:
        if "simlab" in frame.f_code.co_filename:
            place = _place(frame.f_code.co_filename, frame.f_lineno).partition(":")[0]
            found.append(f"{place}:{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(found)


def _place(filename: str, line: int) -> str:
    path = Path(filename)
    inside = path.is_relative_to(ROOT)
    return f"{path.relative_to(ROOT) if inside and 'site-packages' not in path.parts else path.name}:{line}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as again:
        return f"(no text: {type(again).__name__})"


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _forget_peak() -> None:
    with contextlib.suppress(OSError):  # not everywhere allowed: then the peak is that of all cases so far
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
