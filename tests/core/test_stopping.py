"""A signal is never lost: not even one whose exception Python drops."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

SWALLOWED = """
import signal, os, time, sys
from simlab.core import stopping

class Swallows:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)  # the handler raises here, and Python drops what a finaliser raises

stopping.install()
try:
    sys.unraisablehook = lambda *a: print("dropped", flush=True)
    Swallows()
    time.sleep(5)
    print("lost")
except stopping.Stopped as stop:
    stopping.acknowledge()
    os.kill(os.getpid(), signal.SIGINT)  # no longer disturbs
    time.sleep(0.7)
    print("stopped", stop.number)
"""


def test_a_dropped_stop_is_raised_again_until_acknowledged() -> None:
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["dropped", "stopped 15"]
    assert time.monotonic() - began < 4


def call(body: str, *command: str) -> subprocess.CompletedProcess[str]:
    """The entry point with `body` in place of the commands."""
    script = (
        "import os, signal, time; from simlab.cli import main; import simlab.cli as cli\n"
        f"def body():\n    me = os.getpid()\n    {body}\n    time.sleep(5)\n    return 7\n"
        "cli._call = body\nmain()"
    )
    arguments = [*command, sys.executable, "-c", script]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("order", ["INT TERM HUP", "HUP INT TERM", "TERM TERM INT"])
def test_of_several_signals_one_counts(order: str) -> None:
    done = call("; ".join(f"os.kill(me, signal.SIG{name})" for name in order.split()))
    assert done.returncode in (129, 130, 143)
    assert len(done.stderr.splitlines()) == 1


def test_a_stop_that_python_wraps_is_still_a_stop() -> None:
    """What is raised in `__set_name__` arrives as a RuntimeError in Python 3.11."""
    body = (
        "N = type('N', (), {'__set_name__': lambda self, owner, name: os.kill(os.getpid(), signal.SIGTERM)})\n"
        "    type('C', (), {'n': N()})"
    )
    assert call(body).returncode == 143


def test_nohup_stays_nohup() -> None:
    done = call("os.kill(me, signal.SIGHUP); return 7", "nohup")
    assert done.returncode == 7, done.stderr


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("INT", 130), ("HUP", 129)])
def test_every_signal_has_its_exit_code(name: str, code: int) -> None:
    done = call(f"os.kill(me, signal.SIG{name})")
    assert done.returncode == code
    assert done.stderr == f"simlab: stopped by SIG{name}; what was committed is kept\n"
