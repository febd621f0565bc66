"""Output that nobody reads, or whose reader has left, keeps no command from ending, and no traceback is printed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simlab.core import stopping
from tests.support.runs import small_tables

MANY = ("run", "spec.toml", "--dry-run", "--json")
ABSENT = ("run", "absent.toml")


@contextlib.contextmanager
def full_pipe() -> Iterator[int]:
    """A pipe that takes nothing more; nobody reads from it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))
    os.set_blocking(writing, True)
    try:
        yield writing
    finally:
        os.close(reading)
        os.close(writing)


@contextlib.contextmanager
def started(arguments: tuple[str, ...], cwd: Path, **streams: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", "simlab", *arguments], cwd=cwd, **streams)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until_blocked(process: subprocess.Popen[bytes]) -> None:
    """Until it waits for somebody to read; where the system does not tell, for as long as it may take to get there."""
    asked = Path(f"/proc/{process.pid}/wchan")
    end = time.monotonic() + (60 if asked.exists() and asked.read_text() != "0" else 5)
    while time.monotonic() < end and not (asked.exists() and "pipe" in asked.read_text()):
        assert process.poll() is None, "it ended though nobody reads"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("arguments", "streams"),
    [
        (MANY, ("stdout", "stderr")),
        (MANY, ("stdout",)),
        (("list",), ("stdout", "stderr")),
        (("guide", "mathematics"), ("stdout", "stderr")),
        (ABSENT, ("stderr",)),
        (("collate", "begun"), ("stdout", "stderr")),
    ],
    ids=" ".join,
)
def test_a_signal_ends_what_waits_for_a_reader(
    arguments: tuple[str, ...], streams: tuple[str, ...], tmp_path: Path, write_spec: Any
) -> None:
    write_spec(small_tables(seeds=300))
    if arguments[0] == "collate":
        from simlab.lab.directory import RunDirectory
        from simlab.lab.spec import resolve

        (tmp_path / "begun").mkdir()
        RunDirectory(tmp_path / "begun").begin(resolve(small_tables(seeds=300)), overwrite=False)
    for number in (signal.SIGTERM, signal.SIGINT) if arguments[0] == "list" else (signal.SIGTERM,):
        with full_pipe() as pipe:
            other = {} if "stderr" in streams else {"stderr": subprocess.PIPE}
            with started(arguments, tmp_path, **dict.fromkeys(streams, pipe), **other) as process:
                wait_until_blocked(process)
                process.send_signal(number)
                assert process.wait(60) == 128 + number
                if process.stderr is not None:
                    assert process.stderr.read() == b"simlab: stopped by SIGTERM; what was committed is kept\n"


@pytest.mark.parametrize(
    "arguments",
    [
        MANY,
        ("list",),
        ("show", "networks/two_layer", "--json"),
        ("guide", "mathematics"),
        ("spectrum", "ntk", "--depth", "2", "--dim", "3", "--max-degree", "2", "--json"),
        ("--help",),
        (),
    ],
    ids=lambda arguments: " ".join(arguments) or "no arguments",
)
def test_a_reader_that_has_left_is_no_traceback(arguments: tuple[str, ...], tmp_path: Path, write_spec: Any) -> None:
    write_spec(small_tables(seeds=30))
    reading, writing = os.pipe()
    os.close(reading)
    with started(arguments, tmp_path, stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        assert process.communicate(timeout=60)[1] == b""
        assert process.returncode == 1


@pytest.mark.parametrize(("arguments", "code"), [(ABSENT, 2), (("lst",), 2), (("collate", "absent"), 2)])
def test_where_standard_error_is_closed_the_exit_code_is_the_same(
    arguments: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(arguments, tmp_path, stdout=subprocess.PIPE, stderr=writing) as process:
        os.close(writing)
        assert process.communicate(timeout=60)[0] == b""
        assert process.returncode == code


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "simlab", "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "simlab: system: No space left on device\n")


def test_what_is_to_be_done_first_is_done_before_the_exception() -> None:
    script = (
        "import os, signal, time\nfrom simlab.core import stopping\ncalled = []\n"
        "stopping.install(lambda: called.append(1))\n"
        "try:\n    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(9)\n"
        "except stopping.Stopped:\n    stopping.acknowledge()\n    print(called)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[1]\n"
    assert stopping.received() == 0
