"""A mutated spec goes the way of ``simlab run FILE --dry-run``: in this process, and some through a new one as well."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from fuzzing import spec_cases
from fuzzing.judging import CPU_SECONDS, LINE_LETTERS, MEMORY_BYTES, PLANTED, Judge, Verdict, bad_line
from simlab.cli.app import app

PROCESS_CASES = 1000  # one of so many goes through a process of its own
NEEDS_CASES = 5  # of one of so many it is also asked what a run would need


class Specs:
    """Cases of `fuzzing.spec_cases`."""

    def __init__(self, seed: int, home: Path, judge: Judge) -> None:
        self.seed, self.home, self.judge = seed, home, judge
        self.path = home / "spec.toml"
        for name in ("SIMLAB_ALLOW_CODE", "SIMLAB_DATA"):
            os.environ.pop(name, None)
        plant(home / "planted")
        app.get_command(click.Context(app), "run")  # imports what a first case must not be charged for
        spec_cases.originals()
        for text in (spec_cases.originals()[0][1], "[experiment]\nkind = 'spectrum'\n"):
            self.path.write_text(text)
            judge(lambda: self._dry_run([], needs=True))
        judge.base = Judge().base

    def run(self, number: int) -> Verdict:
        case = spec_cases.case(self.seed, number)
        self.path.write_bytes(case.content)
        needs = random.Random(number).randrange(NEEDS_CASES) == 0
        verdict = self.judge(lambda: self._dry_run(case.options, needs))
        if number % PROCESS_CASES == 0 and not verdict.is_violation:
            verdict = self._through_the_command_line(case.options, verdict)
        verdict.about = f"{case.about} {' '.join(case.options)}"[:400]
        return verdict

    def _dry_run(self, options: list[str], needs: bool) -> None:
        from simlab.lab import needs as need
        from simlab.lab.run import load_for

        out = str(self.home / "out")
        app.main(["run", str(self.path), "-o", out, "--dry-run", *options], "simlab", standalone_mode=False)
        if needs and "--set" not in options:
            need.check(load_for(out, str(self.path)))

    def _through_the_command_line(self, options: list[str], inside: Verdict) -> Verdict:
        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(CPU_SECONDS) + 5, int(CPU_SECONDS) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES * 4, MEMORY_BYTES * 4))

        (self.home / "planted" / "imported").unlink(missing_ok=True)
        arguments = ["run", str(self.path), "-o", str(self.home / "out"), "--dry-run", *options]
        done = subprocess.run(
            [sys.executable, "-m", "simlab", *arguments],
            capture_output=True, preexec_fn=limited, timeout=60, check=False,
            env={**os.environ, "PYTHONPATH": str(self.home / "planted"), "PYTHONWARNINGS": "always"},
        )  # fmt: skip
        said = done.stderr.decode(errors="replace")
        if bad := bad_output(done.returncode, said, inside.outcome):
            return Verdict(f"command line: {bad}", detail=said[:300])
        if (self.home / "planted" / "imported").exists():
            (self.home / "planted" / "imported").unlink()
            return Verdict("command line: a module that the spec names was imported")
        return inside


def bad_output(code: int, said: str, outcome: str) -> str:
    """What is wrong with an exit code and what was said on standard error, "" if nothing."""
    if outcome == "accepted":
        return "" if code == 0 and not said else f"exit code {code} although the spec is accepted"
    if code not in (1, 2):
        return f"exit code {code} for a refused spec"
    if not said.startswith("simlab: ") or not said.endswith("\n"):
        return "no line of simlab"
    return bad_line(said[:-1]) or ("" if len(said) < LINE_LETTERS else "too long")


def plant(home: Path) -> None:
    """A module on the path that tells when it is imported."""
    home.mkdir(exist_ok=True)
    text = "import pathlib\npathlib.Path(__file__).with_name('imported').touch()\ndef phi(z): return z\n"
    (home / f"{PLANTED}.py").write_text(text)
    sys.path.insert(0, str(home))


def describe(seed: int, number: int) -> dict[str, Any]:
    """What a case is, for people."""
    case = spec_cases.case(seed, number)
    return {"about": case.about, "options": case.options, "spec": case.content.decode("utf-8", "backslashreplace")}
