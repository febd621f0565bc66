"""The table of runs/mnist.toml: minutes and memory of the whole run, with kills on the way if asked for.

    python tools/bench/mnist.py DATA                  # some 35 minutes on two cores; DATA holds MNIST's IDX files
    python tools/bench/mnist.py DATA --kills 3        # kill -9 three times at random moments, and resume
    python tools/bench/mnist.py DATA --set experiment.train=5000 --set experiment.validation=5000

Prints the accuracies with their λ, the residuals, the time of all processes together and the largest memory that they
had at one time. Exit code 1 if the run fails, or takes more than 40 minutes or 20 GB.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from simlab.record.reader import Results

SPEC = Path(__file__).parents[2] / "runs" / "mnist.toml"
MOST_MINUTES, MOST_GIGABYTES = 40.0, 20.0
POLL_SECONDS = 0.5  # between two looks at the memory


def memory(process: psutil.Process) -> float:
    """Bytes of a process and all that it started."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def watch(command: list[str], kill_after: float | None) -> tuple[int, float]:
    """Run; the exit code and the largest memory. With `kill_after` seconds every process is killed then."""
    began, most = time.monotonic(), 0.0
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    process = psutil.Process(running.pid)
    while running.poll() is None:
        try:
            most = max(most, memory(process))
            if kill_after is not None and time.monotonic() - began > kill_after:
                for one in (*process.children(recursive=True), process):
                    one.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            break
        time.sleep(POLL_SECONDS)
    return running.wait(), most


def table(results: Results) -> str:
    lines = ["kernel   depth   test %   validation %       λ   residual   iterations"]
    for kind in results["kernel.kind"].tolist():
        for depth in results["kernel.depth"].tolist():
            at = {"kernel.kind": kind, "kernel.depth": depth}
            test, validation, ridge = (
                float(results.select(name, at)) for name in ("test_accuracy", "validation_accuracy", "ridge")
            )
            residual, steps = results.select("residual", at).max(), results.select("iterations", at).max()
            lines.append(
                f"{kind:<7}{depth:7d}{100 * test:9.2f}{100 * validation:15.2f}{ridge:8.0e}{residual:11.1e}{steps:13d}"
            )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="keep the run here, or go on with it")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = options.output or Path(scratch) / "run"
        command = [sys.executable, "-m", "simlab", "run", str(SPEC), "-o", str(out), "--data", str(options.data)]
        for setting in options.set:
            command += ["--set", setting]
        began, most = time.monotonic(), 0.0
        for attempt in range(options.kills + 1):
            after = random.uniform(60.0, 300.0) if attempt < options.kills else None
            code, peak = watch(command, after)
            most = max(most, peak)
            if after is not None:
                print(f"kill {attempt + 1} after {after:.0f} s", file=sys.stderr)
        minutes = (time.monotonic() - began) / 60.0
        if code:
            print(f"the run ended with exit code {code}", file=sys.stderr)
            return 1
        print(table(Results(out)))
        slow, large = minutes > MOST_MINUTES, most / 1e9 > MOST_GIGABYTES
        print(f"\n{minutes:.1f} minutes (at most {MOST_MINUTES:g}){' MISSED' if slow else ''}")
        print(f"{most / 1e9:.1f} GB (at most {MOST_GIGABYTES:g}){' MISSED' if large else ''}")
        return int(slow or large)


if __name__ == "__main__":
    sys.exit(main())
