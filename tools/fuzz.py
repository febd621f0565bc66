"""Mutated specs and damaged files: each must be accepted, or refused in one line, soon and without much memory.

    python tools/fuzz.py specs --count 100000 --seed 1 --workers 2
    python tools/fuzz.py files --count 5000 --seed 1
    python tools/fuzz.py specs --seed 1 --only 4711            # one case again, with its spec and its traceback

Case number i of seed s is the same whatever the count and the workers. A spec goes the way of ``simlab run --dry-run``.
A damaged file (segment, results, Gram store, data file, …) is given to everything that reads it; data that are read
must be the data that were written. A violation is: an exception that is not meant for people, an error of several
lines or of 500 letters or more, a warning, output of a library, more than 5 s of CPU time or 1 GB of memory, an import
of a module that a spec names, a process that dies or hangs, and wrong data.

Prints one JSON object: counts, the slowest case, the largest memory, the longest line, and the violations with the
numbers of the cases that show them. Exits 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzzing import pool
from fuzzing.judging import Verdict

CASES = {"specs": "fuzzing.spec_runs:Specs", "files": "fuzzing.file_runs:Files"}
LISTED_CASES = 20
PROGRESS_SECONDS = 10.0


class Figures:
    """What came of all cases so far."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.violations: dict[str, dict[str, Any]] = {}
        self.slowest: tuple[float, int] = (0.0, -1)
        self.largest: tuple[int, int] = (0, -1)
        self.longest: tuple[int, int] = (0, -1)
        self.longest_wall = 0.0

    def add(self, number: int, verdict: Verdict) -> None:
        self.slowest = max(self.slowest, (round(verdict.seconds, 3), number))
        self.largest = max(self.largest, (verdict.memory, number))
        self.longest = max(self.longest, (verdict.line, number))
        self.longest_wall = max(self.longest_wall, verdict.wall)
        self.outcomes["violation" if verdict.is_violation else verdict.outcome] += 1
        if verdict.is_violation:
            entry = self.violations.setdefault(
                verdict.outcome, {"what": verdict.outcome, "count": 0, "detail": verdict.detail, "about": verdict.about}
            )
            entry["count"] += 1
            entry.setdefault("cases", []).append(number)

    def as_dict(self) -> dict[str, Any]:
        found = sorted(self.violations.values(), key=lambda entry: -entry["count"])
        return {
            "cases": sum(self.outcomes.values()),
            "accepted": self.outcomes["accepted"],
            "refused": self.outcomes["refused"],
            "violating": self.outcomes["violation"],
            "slowest": {"cpu_seconds": self.slowest[0], "case": self.slowest[1]},
            "longest_wall_seconds": round(self.longest_wall, 2),
            "largest": {"megabytes": round(self.largest[0] / 1e6), "case": self.largest[1]},
            "longest_line": {"letters": self.longest[0], "case": self.longest[1]},
            "violations": [{**entry, "cases": sorted(entry["cases"])[:LISTED_CASES]} for entry in found],
        }


def fuzz(name: str, seed: int, first: int, count: int, workers: int) -> dict[str, Any]:
    """Run the cases `first` … `first + count - 1`; progress goes to standard error."""
    figures, began = Figures(), time.monotonic()
    said = began
    for done, (number, verdict) in enumerate(pool.run_all(name, seed, iter(range(first, first + count)), workers), 1):
        if verdict.is_violation and verdict.outcome not in figures.violations:
            print(f"violation in case {number}: {verdict.outcome}: {verdict.detail}", file=sys.stderr, flush=True)
        figures.add(number, verdict)
        if (now := time.monotonic()) - said >= PROGRESS_SECONDS:
            said, rate = now, done / (now - began)
            left = (count - done) / rate
            print(
                f"{done} of {count} cases, {rate:.0f} per second, {left / 60:.1f} minutes left,"
                f" {figures.outcomes['violation']} violations",
                file=sys.stderr,
                flush=True,
            )
    seconds = time.monotonic() - began
    return {"seed": seed, "first": first, **figures.as_dict(), "seconds": round(seconds, 1), "workers": workers}


def one(what: str, seed: int, number: int) -> dict[str, Any]:
    """One case again, with all that is known about it."""
    [(_, verdict)] = pool.run_all(CASES[what], seed, iter([number]), 1)
    module = __import__(CASES[what].partition(":")[0], fromlist=["describe"])
    return {"case": number, **verdict.as_dict(), "violation": verdict.is_violation, **module.describe(seed, number)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(CASES))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, metavar="N", help="run this case alone and show it")
    chosen = parser.parse_args()
    if chosen.only is not None:
        found = one(chosen.what, chosen.seed, chosen.only)
        print(found.pop("trace"), file=sys.stderr)
        print(found.pop("spec", ""), file=sys.stderr)
        print(json.dumps(found, indent=1))
        sys.exit(int(found["violation"]))
    found = fuzz(CASES[chosen.what], chosen.seed, chosen.first, chosen.count, chosen.workers)
    print(json.dumps({"what": chosen.what, **found}, indent=1))
    sys.exit(int(bool(found["violations"])))


if __name__ == "__main__":
    main()
