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


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("INT", 130), ("HUP", 129)])
def test_every_signal_has_its_exit_code(name: str, code: int) -> None:
    script = (
        "import os, signal, time; from simlab.cli import main; import simlab.cli as cli\n"
        f"cli._call = lambda: (os.kill(os.getpid(), signal.SIG{name}), time.sleep(5))\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr == f"simlab: stopped by SIG{name}; what was committed is kept\n"
