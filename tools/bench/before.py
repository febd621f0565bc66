"""simlab beside an earlier version of itself: whether a change made something slower.

    git worktree add ../earlier COMMIT
    python tools/bench/before.py ../earlier                       # everything, some forty minutes
    python tools/bench/before.py ../earlier networks mlp --rounds 15

networks, flows, kernels: the problems of the benchmarks of these names, without their peers. three_layer, resnet, mlp:
steps of these networks, full batch and SGD, float64 and float32. Every row of simlab's runs three times, in processes
of their own and interleaved: "now", "before" and "before" once more, whose ratio to the first is the noise of this
machine at this hour. "before" imports simlab from the other checkout, in the interpreter of its .venv where it has one,
otherwise in this one, by the contestant's script there, or by ours where there is none yet.

Answers of now and before must be equal, or nothing is timed: to the bit, or (mlp) to the tolerances of the problem. A
row is slower where the median over the rounds of now/before is above 1 by more than `ALLOWED` and by more than twice
the distance of the noise's median from 1.

Exit code 1 if a row is slower or answers differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import flows
import kernels
import networks
import numpy as np
import steps
from harness import Contestant, Problem, machine, measure
from numpy.typing import NDArray
from report import table

ALLOWED = 0.05
"""Share of the time by which two processes of one program differ on a quiet machine."""


@dataclass(frozen=True)
class Compared:
    """A problem whose rows of simlab's are compared with an earlier version.

    problem: the problem.
    threads: number of threads.
    bits: whether answers must be equal to the bit; otherwise to the problem's own tolerances.
    """

    problem: Problem
    threads: int
    bits: bool = True


def network_steps(*names: str, bits: bool = True) -> list[Compared]:
    """Full batch and SGD, float64 and float32, of these cases of `steps`."""
    return [
        Compared(steps.problem(name, steps.CASES[name], sgd=sgd, dtype=dtype), 2, bits)
        for name in names
        for sgd in (False, True)
        for dtype in ("float64", "float32")
    ]


BENCHMARKS: dict[str, Callable[[], list[Compared]]] = {
    "networks": lambda: [Compared(networks.descent(name), 2) for name in networks.SIZES],
    "flows": lambda: [Compared(flows.one_pass(batch), 1) for batch in flows.BATCHES],
    "kernels": lambda: [Compared(replace(kernels.depth(4000, 64), rounds=None), 2)],
    "three_layer": lambda: network_steps("three_layer"),
    "resnet": lambda: network_steps("resnet"),
    "mlp": lambda: network_steps("mlp-small", "mlp-medium", "mlp-large", bits=False),
}
"""Benchmark → what is compared in it."""


def differences(now: NDArray[Any], before: NDArray[Any]) -> dict[str, float]:
    return {"": float(np.max(np.abs(now - before)))}


def earlier_version(contestant: Contestant, earlier: Path) -> Contestant:
    """The contestant with the simlab of another checkout."""
    python, script = earlier / ".venv/bin/python", earlier / "tools/bench/contestants" / contestant.script.name
    return replace(
        contestant,
        python=python if python.exists() else None,
        script=script if script.exists() else contestant.script,
        checkout=earlier,
    )


def rows_of(compared: Compared, earlier: Path) -> Iterator[Problem]:
    """One problem per row of simlab's: the row now, before, and before again."""
    problem = compared.problem
    if compared.bits:
        problem = replace(problem, tolerance=0.0, difference=differences)
    for contestant in problem.contestants:
        if not contestant.name.startswith("simlab"):
            continue
        plain = replace(contestant, against=None, tolerances={} if compared.bits else contestant.tolerances)
        before = earlier_version(replace(plain, name="before"), earlier)
        racing = before, replace(plain, name="now", against="before"), replace(before, name="before again")
        yield replace(problem, name=f"{problem.name}: {contestant.name}", contestants=racing, targets=())


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
    parser.add_argument("earlier", type=Path, help="a checkout of the earlier version")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(BENCHMARKS)}; all if left out")
    parser.add_argument("--rounds", type=int, default=11, help="interleaved timings per row")
    parser.add_argument("--json", action="store_true", help="every timing, machine and versions included")
    chosen = parser.parse_args()
    for name in chosen.names:
        if name not in BENCHMARKS:
            parser.error(f"{name}: no such benchmark; there are {', '.join(BENCHMARKS)}")
    if not (chosen.earlier / "simlab").is_dir():
        parser.error(f"{chosen.earlier}: no checkout of simlab there")
    found, verdicts = [], []
    for name in chosen.names or BENCHMARKS:
        for compared in BENCHMARKS[name]():
            for row in rows_of(compared, chosen.earlier.absolute()):
                found.append(measure(row, rounds=chosen.rounds, threads=compared.threads))
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
