"""One-pass SGD beside PyTorch: two-layer ReLU net, both layers, fresh samples in batches of 1, 8 and 32, float64.

    tools/bench/peers.sh torch                        # once: the peer's own environment
    python tools/bench/flows.py                       # three batch sizes, about a minute
    python tools/bench/flows.py 8 --rounds 9
    python tools/bench/flows.py --json > flows.json

d = 32, m = 100. Both take the same steps over the same samples, each seen once, and the weights at the end are compared
before anything is timed. The samples are there before the clock starts, since how they are made is no part of the step.
PyTorch: eager, autograd, torch.optim.SGD, at 1 thread by default (a second one only costs at these sizes).

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target, machine, measure
from report import bad_news, text

BATCHES = {1: 8192, 8: 8192, 32: 4096}
"""Steps a run, by the number of samples in a batch: whole chunks of simlab's."""


def one_pass(batch: int, d: int = 32, m: int = 100, steps: int | None = None) -> Problem:
    rows = batch * (steps or BATCHES[batch])

    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((rows, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return {
            "X": X,
            "y": np.abs(X @ rng.standard_normal(d)),
            "a": rng.standard_normal(m),
            "W": rng.standard_normal((m, d)),
        }

    return Problem(
        f"batch {batch}",
        inputs,
        (
            Contestant("torch", CONTESTANTS / "flows_torch.py", peer="torch"),
            Contestant("simlab", CONTESTANTS / "flows_simlab.py", against="torch"),
        ),
        parameters={"batch": batch, "d": d, "m": m, "step": 0.05},
        tolerance=1e-9,
        targets=(Target("torch over simlab", "torch", "simlab", at_least=10),),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("batches", nargs="*", type=int, metavar="batch", help="1, 8 or 32; all of them if left out")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved timings, after the run that is compared")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="everything, machine and versions included")
    chosen = parser.parse_args()
    for batch in chosen.batches:
        if batch not in BATCHES:
            parser.error(f"{batch}: there are batches of {', '.join(map(str, BATCHES))}")
    for name in ("rounds", "threads"):
        if (value := getattr(chosen, name)) < 1:
            parser.error(f"--{name} {value}: at least 1")
    if sys.platform == "linux" and chosen.threads > (available := len(os.sched_getaffinity(0))):
        parser.error(f"--threads {chosen.threads}: this process may use {available} cores")
    found = []
    for batch in chosen.batches or BATCHES:
        problem = one_pass(batch)
        found.append(measure(problem, rounds=chosen.rounds, threads=chosen.threads, seed=chosen.seed, log=sys.stderr))
        if not chosen.json:
            print(text(found[-1]), flush=True)
    if chosen.json:
        print(json.dumps({"benchmark": "flows", "machine": machine(), "problems": found}, indent=1))
    sys.exit(1 if any(bad_news(each) for each in found) else 0)


if __name__ == "__main__":
    main()
