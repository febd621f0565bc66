"""The command line of a benchmark: names, rounds, threads, seed, --json."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from harness import Problem, machine, measure
from report import bad_news, text

from simlab.core import resources


def run(
    benchmark: str,
    about: str | None,
    problems: Mapping[str, Callable[[], Problem]],
    threads: int,
    own: tuple[argparse.ArgumentParser, ...] = (),
) -> None:
    """Measure the problems named on the command line, all if none is; exit code 1 where there is bad news.

    own: parsers (add_help=False) of options that the benchmark has read by itself.
    """
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=about, formatter_class=form, parents=own)
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(problems)}; all of them if left out")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved timings, after the run that is compared")
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="everything, machine and versions included")
    chosen = parser.parse_args()
    for name in chosen.names:
        if name not in problems:
            parser.error(f"{name}: no such problem; there are {', '.join(problems)}")
    for name in ("rounds", "threads"):
        if (value := getattr(chosen, name)) < 1:
            parser.error(f"--{name} {value}: at least 1")
    if chosen.threads > (available := resources.cores()):
        parser.error(f"--threads {chosen.threads}: this process may use {available} cores")
    found = []
    for name in chosen.names or problems:
        problem = problems[name]()
        found.append(measure(problem, rounds=chosen.rounds, threads=chosen.threads, seed=chosen.seed, log=sys.stderr))
        if not chosen.json:
            print(text(found[-1]), flush=True)
    if chosen.json:
        print(json.dumps({"benchmark": benchmark, "machine": machine(), "problems": found}, indent=1))
    sys.exit(1 if any(map(bad_news, found)) else 0)
