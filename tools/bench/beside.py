"""Steps with two threads where another program has one of the cores: what waiting for the slower thread costs.

    python tools/bench/beside.py                              # eight networks, some minutes
    python tools/bench/beside.py mlp-small features --rounds 9
    python tools/bench/beside.py --before ../earlier          # also two threads of an earlier checkout, on free cores

Full-batch descent in float64, of every network with one and with two threads, on two free cores and beside a process
that keeps one of the two busy. Each in a process of its own, all on the same two cores, interleaved. One thread has a
free core in both cases. Two threads that share the work evenly take twice as long beside work as on free cores, and
gain nothing over one; where a thread also waits by spinning, or for one that does not run, it is worse.

Targets: two threads beside work take at most 1.3 times as long as one thread, on free cores and beside work; and on
free cores not more than 1.05 times as long as in the earlier checkout, which is a git worktree (with or without a .venv
of its own). The machine must be quiet otherwise.

Exit code 1 if a target is missed, answers disagree or a contestant fails.
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import replace
from pathlib import Path

import command
import steps
from before import earlier_version
from harness import Problem, Target

NAMES = tuple(name for name in steps.CASES if name != "resnet")
BESIDE = 1.3
BEFORE = 1.05


def beside(name: str, case: steps.Case, earlier: Path | None = None) -> Problem:
    problem = steps.problem(name, case)
    (simlab,) = problem.contestants
    one = replace(simlab, name="1 thread", threads=1)
    two = replace(simlab, name="2 threads", threads=2, against=one.name)
    racing = [
        one,
        two,
        replace(one, name="1 thread, beside work", against=one.name, beside_work=True),
        replace(two, name="2 threads, beside work", beside_work=True),
    ]
    targets = [
        Target("2 threads beside work over 1 thread", racing[3].name, one.name, at_most=BESIDE),
        Target("2 threads beside work over 1 beside work", racing[3].name, racing[2].name, at_most=BESIDE),
    ]
    if earlier is not None:
        racing.append(earlier_version(replace(two, name="2 threads, before"), earlier))
        targets.append(Target("2 threads over before", two.name, racing[-1].name, at_most=BEFORE))
    return replace(problem, contestants=tuple(racing), targets=tuple(targets))


def main() -> None:
    own = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    own.add_argument("--before", type=Path, metavar="DIR", help="a checkout of an earlier version")
    earlier = own.parse_known_args()[0].before
    if earlier is not None:
        earlier = earlier.absolute()
        if not (earlier / "simlab").is_dir():
            own.error(f"--before {earlier}: no checkout of simlab there")
    problems = {name: functools.partial(beside, name, steps.CASES[name], earlier) for name in NAMES}
    command.run("beside", __doc__, problems, threads=2, own=(own,))


if __name__ == "__main__":
    main()
