"""simlab beside an earlier version of itself: whether a change made something slower.

    git worktree add ../earlier COMMIT; python -m venv ../earlier/.venv; ../earlier/.venv/bin/pip install ../earlier
    python tools/bench/before.py ../earlier                       # networks, flows and kernels, some ten minutes
    python tools/bench/before.py ../earlier networks --rounds 15

The problems are those of the benchmarks of these names, without their peers. Every row of simlab's runs three times,
in processes of their own and interleaved: "now", "before" (script and interpreter of the other checkout) and "before"
once more, whose ratio to the first is the noise of this machine at this hour. Answers of now and before must be equal
to the bit, or nothing is timed. A row is slower where the median over the rounds of now/before is above 1 by more than
`ALLOWED` and by more than twice the distance of the noise's median from 1.

Exit code 1 if a row is slower or answers differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import flows
import kernels
import networks
import numpy as np
from harness import Problem, machine, measure
from numpy.typing import NDArray
from report import table

ALLOWED = 0.05
"""Share of the time by which two processes of one program differ on a quiet machine."""
BENCHMARKS: dict[str, Callable[[], list[tuple[Problem, int]]]] = {
    "networks": lambda: [(networks.descent(name), 2) for name in networks.SIZES],
    "flows": lambda: [(flows.one_pass(batch), 1) for batch in flows.BATCHES],
    "kernels": lambda: [(replace(kernels.depth(4000, 64), rounds=None), 2)],
}
"""Benchmark → its problems, each with its number of threads."""


def differences(now: NDArray[Any], before: NDArray[Any]) -> dict[str, float]:
    return {"": float(np.max(np.abs(now - before)))}


def rows_of(problem: Problem, earlier: Path) -> Iterator[Problem]:
    """One problem per row of simlab's: the row now, before, and before again."""
    for contestant in problem.contestants:
        if not contestant.name.startswith("simlab"):
            continue
        plain = replace(contestant, against=None, tolerances={})
        python, script = earlier / ".venv/bin/python", earlier / "tools/bench/contestants" / contestant.script.name
        racing = [
            replace(plain, name="before", python=python, script=script),
            replace(plain, name="now", against="before"),
            replace(plain, name="before again", python=python, script=script),
        ]
        name = f"{problem.name}: {contestant.name}"
        yield replace(problem, name=name, contestants=tuple(racing), targets=(), tolerance=0.0, difference=differences)


def verdict(found: dict[str, Any]) -> dict[str, Any]:
    """Medians over the rounds of each round's ratio, and what they mean."""
    entries = {entry["name"]: entry for entry in found["contestants"]}
    bad = [
        f"{name}: {entry['status']} {entry['message']}" for name, entry in entries.items() if entry["status"] != "ok"
    ]
    if bad:
        return {"row": found["problem"], "now": None, "noise": None, "verdict": "; ".join(bad)}
    now, before, again = (np.array(entries[name]["seconds"]) for name in ("now", "before", "before again"))
    ratio, noise = float(np.median(now / before)), float(np.median(again / before))
    slower = ratio - 1 > max(ALLOWED, 2 * abs(noise - 1))
    return {
        "row": found["problem"], "now": ratio, "noise": noise, "verdict": "SLOWER" if slower else "ok",
        "seconds_before": median(before), "seconds_now": median(now),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("earlier", type=Path, help="a checkout of the earlier version, with its .venv")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(BENCHMARKS)}; all if left out")
    parser.add_argument("--rounds", type=int, default=11, help="interleaved timings per row")
    parser.add_argument("--json", action="store_true", help="every timing, machine and versions included")
    chosen = parser.parse_args()
    for name in chosen.names:
        if name not in BENCHMARKS:
            parser.error(f"{name}: no such benchmark; there are {', '.join(BENCHMARKS)}")
    if not (chosen.earlier / ".venv/bin/python").exists():
        parser.error(f"{chosen.earlier}: no .venv/bin/python there")
    found, verdicts = [], []
    for name in chosen.names or BENCHMARKS:
        for problem, threads in BENCHMARKS[name]():
            for row in rows_of(problem, chosen.earlier.absolute()):
                found.append(measure(row, rounds=chosen.rounds, threads=threads))
                verdicts.append(verdict(found[-1]))
                print(f"{name}, {verdicts[-1]['row']}: {verdicts[-1]['verdict']}", file=sys.stderr, flush=True)
    if chosen.json:
        print(json.dumps({"machine": machine(), "rows": verdicts, "problems": found}, indent=1))
    else:
        lines: list[tuple[str, ...]] = [("row", "before s", "now s", "now/before", "noise", "")]
        for one in verdicts:
            figures = (one.get("seconds_before"), one.get("seconds_now"), one["now"], one["noise"])
            lines.append((one["row"], *("-" if value is None else f"{value:.4g}" for value in figures), one["verdict"]))
        print(table(lines))
    sys.exit(any(one["verdict"] != "ok" for one in verdicts))


if __name__ == "__main__":
    main()
