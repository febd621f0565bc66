"""What the run engine costs: streaming, many short points, memory, start-up. Prints one JSON object.

    python tools/bench/engine.py            # a few minutes on two cores

Everything is compared within this run, interleaved, medians; machines are noisy, so no test asserts these figures.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import tomli_w

from simlab.lab.options import RunOptions
from simlab.lab.run import run_spec
from simlab.lab.spec import Spec, resolve


def tables(**changes: dict[str, Any]) -> dict[str, Any]:
    base: dict[str, Any] = {
        "observables": ["train_loss"],
        "experiment": {"kind": "gradient_flow", "seed": 1, "samples": 10, "records": 2},
        "data": {"kind": "uniform_sphere", "dim": 5},
        "target": {"kind": "relu_teacher"},
        "network": {"kind": "two_layer", "width": 20},
        "flow": {"kind": "gradient_descent", "steps": 100, "step": 0.1},
    }
    for name, change in changes.items():
        base[name] = {**base.get(name, {}), **change}
    return base


def compute_alone(spec: Spec, points: list[int]) -> float:
    """Seconds of the experiment's own calls, nothing recorded, one thread, in this process."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        began = time.perf_counter()
        for point in points:
            experiment, streams = spec.at(point), spec.sweep.streams(spec.seed, point)
            work = experiment.prepare(streams)
            state = experiment.start(work, streams)
            while not experiment.finished(state):
                experiment.advance(work, state)
        return time.perf_counter() - began


class Clock:
    """A worker's whole loop in this process, with its writer or with one that throws rows away."""

    def __init__(self, home: Path, spec: Spec, record: bool) -> None:
        self.home, self.spec, self.record = home, spec, record
        self.inside = 0.0  # seconds of the last run spent in recording

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*arguments)
            finally:
                self.inside += time.perf_counter() - began

        return call

    def seconds(self) -> float:
        from threadpoolctl import threadpool_limits

        from simlab.lab.directory import RunDirectory
        from simlab.lab.worker import Worker

        with tempfile.TemporaryDirectory(dir=self.home) as name, open(os.devnull, "w") as nowhere:
            run = RunDirectory(name)
            run.begin(self.spec, overwrite=False)
            worker = Worker(run.path, 30.0, nowhere)
            for name in ("_add", "_commit"):
                setattr(worker, name, self._timed(getattr(worker, name)))
            if not self.record:
                for name in ("add", "commit"):
                    setattr(worker.writer, name, lambda *a: None)
            self.inside = 0.0
            worker.todo.put(partial(worker._compute, 0, False, 0))
            worker.todo.put(None)
            with threadpool_limits(1):
                began = time.perf_counter()
                worker.work()
                return time.perf_counter() - began


def streaming(home: Path, steps: int, repeats: int) -> dict[str, Any]:
    """The same point with its rows committed and thrown away: a record every 10 steps, and 1000 in all."""
    found = {}
    cases = (("a record every 10 steps", steps // 4, steps // 40 + 1), ("1000 records", steps, 1001))
    for name, length, records in cases:
        spec = resolve(
            tables(experiment={"records": records, "samples": 40}, flow={"steps": length}, network={"width": 64})
        )
        on, off = Clock(home, spec, True), Clock(home, spec, False)
        off.seconds()
        times, shares = [], []
        for _ in range(repeats):
            times.append((off.seconds(), on.seconds()))
            shares.append(on.inside / times[-1][1])
        without, with_ = np.median(times, axis=0)
        found[name] = {
            "seconds_off": round(float(without), 3),
            "seconds_on": round(float(with_), 3),
            "cost_percent": round(100 * float(np.median([b / a - 1 for a, b in times])), 2),
            "share_inside_percent": round(100 * float(np.median(shares)), 2),
        }
    return found


@contextlib.contextmanager
def peak_memory() -> Iterator[dict[str, float]]:
    """The largest resident memory (MB) of any worker of this process, sampled."""
    peaks: dict[str, float] = {"worker_mb": 0.0}
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.Error):
                    peaks["worker_mb"] = max(peaks["worker_mb"], child.memory_info().rss / 1e6)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def memory(home: Path) -> dict[str, Any]:
    """A worker's peak for 10^4 and 10^6 steps, every tenth recorded."""
    found = {}
    for steps in (10_000, 100_000, 1_000_000):
        spec = resolve(tables(experiment={"records": steps // 10 + 1}, flow={"steps": steps}))
        with peak_memory() as peak:
            began = time.perf_counter()
            run_spec(spec, home / f"memory{steps}", RunOptions(workers=1))
        found[f"{steps} steps"] = {
            "worker_mb": round(peak["worker_mb"], 1), "seconds": round(time.perf_counter() - began, 1)
        }  # fmt: skip
    return found


def many(home: Path, points: int) -> dict[str, Any]:
    """Short points: the wall time over the time of the experiment's own calls, and the number of files."""
    spec = resolve(tables(flow={"steps": 350}, sweep={"seeds": points}))
    sample = list(range(0, points, max(1, points // 1000)))
    compute_alone(spec, sample[:20])
    alone = compute_alone(spec, sample) / len(sample)
    found: dict[str, Any] = {"points": points, "own_ms": round(1e3 * alone, 3)}
    for workers in (1, 2):
        directory = home / f"many{workers}"
        began = time.perf_counter()
        run_spec(spec, directory, RunOptions(workers=workers))
        wall = (time.perf_counter() - began) / points
        found[f"{workers} workers"] = {
            "wall_ms": round(1e3 * wall, 3),
            "overhead_ms": round(1e3 * (workers * wall - alone), 3),
            "files": sum(1 for path in directory.rglob("*") if path.is_file()),
        }
    return found


def startup(home: Path) -> dict[str, float]:
    spec = home / "one.toml"
    spec.write_text(tomli_w.dumps(tables()))
    commands = {"--help": ["--help"], "run --dry-run": ["run", str(spec), "--dry-run"]}
    found = {}
    for name, arguments in commands.items():
        times = []
        for _ in range(9):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-m", "simlab", *arguments], stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - began)
        found[name] = round(float(np.median(times)), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_600_000, help="of the streaming comparison")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--points", type=int, default=10_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="simlab-bench-") as name:
        home = Path(name)
        found = {
            "load": os.getloadavg()[0],
            "seconds": startup(home),
            "many_points": many(home, chosen.points),
            "memory": memory(home),
            "streaming": streaming(home, chosen.steps, chosen.repeats),
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
