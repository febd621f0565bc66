"""What very many cheap points cost: time per point, memory, files, and how long status, opening and resuming take.

    python tools/bench/scale.py                          # 20,000 and 125,000 points, on a grid and on one long axis
    python tools/bench/scale.py --sizes 200x100 20000    # a grid of two axes, and one axis
    python tools/bench/scale.py --keep DIR               # leave the runs there; a run that is there is not made again

Every command is a process of its own, as a user starts it: its seconds and the largest resident memory of it and of
any of its workers, sampled. Each point is two records of a descent of ten steps. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

GOAL_SECONDS = 1.0  # of `status`
SPEC = """
observables = ["train_loss"]
[experiment]
kind = "gradient_flow"
seed = 1
samples = 10
records = 2
[data]
kind = "uniform_sphere"
dim = 5
[target]
kind = "relu_teacher"
[network]
kind = "two_layer"
width = 20
[flow]
kind = "gradient_descent"
steps = 10
[sweep]
"flow.step" = {{ linspace = [0.001, 0.1, {first}] }}
"""
SECOND = '"flow.alpha" = {{ linspace = [1.0, 2.0, {second}] }}\n'
OPENING = """
import sys, time
import simlab
from simlab.record.reader import Results
began = time.perf_counter()
results = Results(sys.argv[1] + "/results.h5")
results["train_loss"]
read = time.perf_counter()
dataset = simlab.open(sys.argv[1])
opened = time.perf_counter()
dataset["train_loss"].isel(record=-1).mean().item()
print(read - began, opened - read, time.perf_counter() - opened)
"""


def spec_text(sizes: tuple[int, ...]) -> str:
    return SPEC.format(first=sizes[0]) + (SECOND.format(second=sizes[1]) if len(sizes) > 1 else "")


def watch(command: list[str]) -> dict[str, Any]:
    """Run a command to its end: seconds, CPU seconds with all workers, peak memory (MB) of it and of any worker, text.

    CPU seconds hardly change when other programs take a share of the cores, as seconds do.
    """
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([sys.executable, *command], stdout=said, stderr=subprocess.STDOUT)
        watched = psutil.Process(process.pid)
        parent = worker = 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            with contextlib.suppress(psutil.Error):
                parent = max(parent, watched.memory_info().rss / 1e6)
                for child in watched.children():
                    worker = max(worker, child.memory_info().rss / 1e6)
            time.sleep(0.02)
        seconds, used = time.perf_counter() - began, ended[2]
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        said.seek(0)
        text = said.read()
    if process.returncode:
        sys.exit(f"{' '.join(command[:4])}: exit code {process.returncode}: {text[-500:]}")
    found = {"seconds": round(seconds, 3), "cpu_seconds": round(used.ru_utime + used.ru_stime, 3)}
    found |= {"parent_mb": round(parent)} | ({"worker_mb": round(worker)} if worker else {})
    return {**found, "text": text}


def without_text(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key != "text"}


def measure(home: Path, sizes: tuple[int, ...], workers: int, repeats: int) -> dict[str, Any]:
    """Everything about one size; `home` holds the run, made only if it is not there."""
    points, directory, spec = math.prod(sizes), home / "run", home / "spec.toml"
    home.mkdir(parents=True, exist_ok=True)
    spec.write_text(spec_text(sizes), encoding="utf-8")
    at = str(directory)
    found: dict[str, Any] = {"points": points}
    found["dry_run"] = without_text(watch(["-m", "simlab", "run", str(spec), "--dry-run"]))
    if not (directory / "results.h5").exists():
        run = watch(["-m", "simlab", "run", str(spec), "-o", at, "--workers", str(workers), "-q"])
        found["run"] = {**without_text(run), "ms_per_point": round(1e3 * run["seconds"] / points, 3)}
    files = [path for path in directory.rglob("*") if path.is_file()]
    found["files"] = len(files)
    found["mb"] = round(sum(path.stat().st_size for path in files) / 1e6, 1)
    statuses = [watch(["-m", "simlab", "status", at]) for _ in range(repeats)]
    assert f"{points} of {points} points finished" in statuses[0]["text"], statuses[0]["text"]
    found["status"] = {
        key: statistics.median(status[key] for status in statuses) for key in ("seconds", "cpu_seconds", "parent_mb")
    }
    found["status"]["goal_met"] = found["status"]["seconds"] < GOAL_SECONDS
    found["show"] = without_text(watch(["-m", "simlab", "show", at]))
    opening = watch(["-c", OPENING, at])
    names = ("Results", "simlab.open", "read_with_xarray")
    found["opening"] = {
        **dict(zip(names, (round(float(x), 3) for x in opening["text"].split()), strict=True)),
        "seconds_with_imports": opening["seconds"], "parent_mb": opening["parent_mb"],
    }  # fmt: skip
    found["resume_of_finished"] = without_text(watch(["-m", "simlab", "resume", at, "-q"]))
    found["collate"] = without_text(watch(["-m", "simlab", "collate", at, "-q"]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["200x100", "500x250", "20000", "125000"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="of `status`")
    parser.add_argument("--keep", type=Path, help="directory for the runs, kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="simlab-scale-") as temporary:
        home = chosen.keep or Path(temporary)
        found: dict[str, Any] = {"load": os.getloadavg()[0], "help": watch(["-m", "simlab", "--help"])["seconds"]}
        for size in chosen.sizes:
            sizes = tuple(int(part) for part in size.split("x"))
            found[size] = measure(home / size, sizes, chosen.workers, chosen.repeats)
            print(f"{size}: {json.dumps(found[size])}", file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
