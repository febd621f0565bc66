"""Many short commands in one process: each is ``main()`` with its own arguments, directory, environment and streams.

Starting Python and importing numba takes longer than most commands that refuse their input. What a test is to learn
about a process of its own (signals, workers, closed streams, what is imported) it learns from the fixture `simlab`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any


class CommandServer:
    """The side of the tests."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.command_server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
            env={**os.environ, "COLUMNS": "80"},
        )  # fmt: skip

    def call(self, arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"arguments": arguments, "cwd": str(cwd)}) + "\n")
        self.process.stdin.flush()
        return subprocess.CompletedProcess(["simlab", *arguments], **json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        with self.process:  # it ends when its input does
            pass


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    environment = dict(os.environ)
    for line in sys.stdin:
        job = json.loads(line)
        os.chdir(job["cwd"])
        print(json.dumps(answer(job["arguments"])), file=answers, flush=True)
        os.environ.clear()
        os.environ.update(environment)


def answer(arguments: list[str]) -> dict[str, Any]:
    from simlab.cli import main

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.argv = ["simlab", *arguments]
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        except BaseException:  # as Python does with what nobody caught
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        out.seek(0)
        err.seek(0)
        return {"returncode": code, "stdout": out.read().decode(), "stderr": err.read().decode()}


if __name__ == "__main__":
    serve()
