"""Kill a running sweep at random instants, resume it until it is done, and compare with an uninterrupted run.

    python tools/kill_sweep.py --kills 200                    # kill -9
    python tools/kill_sweep.py --kills 50 --signal TERM       # or INT: exit code and time to exit are checked too
    python tools/kill_sweep.py --reference DIR                # keep the uninterrupted run there, or use that of before

`kill -9` hits the parent alone, the parent and all workers at once, or one worker (which the parent replaces). After
each kill nothing that was committed may be gone; at the end every dataset of results.h5 must be bit for bit that of the
uninterrupted run. Prints one JSON object; exits 1 at the first violation.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import psutil

from simlab.lab.directory import RunDirectory
from simlab.record.segments import Segment

SPEC = """
[experiment]
kind = "gradient_flow"
seed = 11
samples = 40
test_samples = 20
records = 400
[data]
kind = "uniform_sphere"
dim = 8
[target]
kind = "relu_teacher"
[network]
kind = "two_layer"
[flow]
kind = "gradient_descent"
steps = {steps}
step = 0.4
step_unit = "edge"
[sweep]
"flow.alpha" = [1.0, 8.0]
"network.width" = [32, 200]
seeds = 3
"""


class Violation(Exception):
    pass


def start(arguments: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "simlab", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def committed(directory: Path) -> dict[int, int]:
    """Point → committed records; a finished point counts one more."""
    run = RunDirectory(directory)
    if not run.exists:
        return {}
    spec = run.read_spec()
    index = run.index(spec)
    index.check_rows(spec.sweep.points)
    found = {point: at.records for point, at in index.checkpoints.items()}
    return found | {point: length + 1 for point, length in index.finished.items()}


def same_datasets(a: Path, b: Path) -> int:
    """Compare every dataset bit for bit; returns how many there are."""
    with h5py.File(a) as one, h5py.File(b) as two:
        names = sorted(name for name, item in one.items() if isinstance(item, h5py.Dataset))
        if names != sorted(name for name, item in two.items() if isinstance(item, h5py.Dataset)):
            raise Violation("the files hold other datasets")
        for name in names:
            x, y = one[name][()], two[name][()]
            if x.dtype != y.dtype or x.shape != y.shape or np.asarray(x).tobytes() != np.asarray(y).tobytes():
                raise Violation(f"{name} differs from the uninterrupted run")
    return len(names)


def kill(process: subprocess.Popen[bytes], name: str, chance: random.Random) -> str:
    """Send the signal; returns what was hit."""
    if name != "KILL":
        process.send_signal(getattr(signal, f"SIG{name}"))
        return "parent"
    try:
        children = psutil.Process(process.pid).children()
    except psutil.NoSuchProcess:
        children = []
    target = chance.choice(["parent", "all", "worker"] if children else ["parent"])
    victims = {"parent": [], "all": children, "worker": [chance.choice(children)] if children else []}[target]
    if target != "worker":
        process.kill()
    for victim in victims:
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.kill()
    return target


def uninterrupted(spec: Path, directory: Path, workers: int) -> float:
    """Run to the end what is to be compared with; returns the seconds. Nothing is left to do if it is there already."""
    began = time.monotonic()
    process = start(["run", str(spec), "-o", str(directory), "--workers", str(workers), "-q"])
    said = process.communicate()[1].decode()
    if process.returncode != 0:
        raise Violation(f"the uninterrupted run failed: {said}")
    return time.monotonic() - began


def harass(
    home: Path, reference: Path, name: str, kills: int, workers: int, steps: int, longest: float, seed: int
) -> dict[str, Any]:
    chance = random.Random(seed)
    spec = home / "spec.toml"
    spec.write_text(SPEC.format(steps=steps))
    alone = uninterrupted(spec, reference, workers)
    hits: Counter[str] = Counter()
    times: list[float] = []
    sweeps = datasets = most_segments = 0
    while sum(hits.values()) < kills:
        directory = home / f"sweep{sweeps}"
        before: dict[int, int] = {}
        finished = False
        while not finished:
            arguments = ["resume", str(directory)] if (directory / "spec.toml").exists() else ["run", str(spec)]
            arguments += [] if arguments[0] == "resume" else ["-o", str(directory)]
            process = start([*arguments, "--workers", str(chance.choice([1, workers])), "-q"])
            try:
                if sum(hits.values()) < kills:
                    try:
                        process.wait(chance.uniform(0.2, longest))
                    except subprocess.TimeoutExpired:
                        at = time.monotonic()
                        target = kill(process, name, chance)
                        hits[target] += 1
                        if target != "worker":
                            process.wait(30)
                            times.append(time.monotonic() - at)
                code = process.wait(600)
                said = process.communicate()[1].decode()
            finally:
                process.kill()
            wanted = {"KILL": -9, "TERM": 143, "INT": 130}[name]
            if code not in (0, wanted):
                raise Violation(f"exit code {code}: {said}")
            finished = code == 0
            now = committed(directory)
            lost = [point for point, records in before.items() if now.get(point, 0) < records]
            if lost:
                raise Violation(f"records of points {lost} were committed and are gone")
            before = now
            most_segments = max(most_segments, sum(1 for _ in (directory / "segments").glob("*.h5")))
        datasets = same_datasets(directory / "results.h5", reference / "results.h5")
        for path in (directory / "segments").glob("*.h5"):
            Segment.read(path)
        shutil.rmtree(directory)
        sweeps += 1
    return {
        "signal": name,
        "kills": sum(hits.values()),
        "hit": dict(hits),
        "sweeps": sweeps,
        "datasets_identical": datasets,
        "most_segments": most_segments,
        "seconds_uninterrupted": round(alone, 1),
        "seconds_to_exit": {"median": round(float(np.median(times)), 3), "max": round(max(times), 3)} if times else {},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signal", choices=["KILL", "TERM", "INT"], default="KILL")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20_000, help="length of a point")
    parser.add_argument("--longest", type=float, default=5.0, help="a kill comes within this many seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reference", type=Path, help="directory of the uninterrupted run, kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="simlab-kill-") as home:
        try:
            reference = chosen.reference or Path(home) / "reference"
            sizes = (chosen.kills, chosen.workers, chosen.steps, chosen.longest, chosen.seed)
            found = harass(Path(home), reference, chosen.signal, *sizes)
        except Violation as violation:
            sys.exit(f"VIOLATION: {violation}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
