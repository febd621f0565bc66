"""Kernel machines beside scikit-learn: a path of ridges on one Gram matrix.

    tools/bench/peers.sh scikit-learn                 # once: the peer's own environment
    python tools/bench/machines.py path               # n = 20,000: about half an hour, nearly all of it scikit-learn's
    python tools/bench/machines.py path --n 4000 --rounds 3
    python tools/bench/machines.py --json > machines.json

path   the NTK of depth 3 on the unit sphere, float64, ten ridges from 1e-3 to 1e3, one output: scikit-learn's
       KernelRidge(kernel="precomputed") with one fit a ridge, against simlab's solve_path. The Gram matrix is made
       before the clock starts; predictions at 500 new points are compared at every ridge, relative to the largest.

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported. The targets
are for n = 20,000: at a few thousand one eigendecomposition is not five times cheaper than ten factorisations.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target, machine, measure
from report import bad_news, text

from simlab.core import resources

PEER = "scikit-learn"
RIDGES = np.geomspace(1e-3, 1e3, 10).tolist()


def path(n: int, d: int) -> Problem:
    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((n + 500, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        w = rng.standard_normal((3, d))
        signal = X @ w[0] + (X @ w[1]) ** 2 + np.maximum(X @ w[2], 0.0)
        return {"X": X[:n], "new": X[n:], "y": signal[:n] + 0.1 * rng.standard_normal(n)}

    return Problem(
        "path",
        inputs,
        (
            Contestant(PEER, CONTESTANTS / "machines_scikit_learn.py", peer=PEER),
            Contestant("simlab", CONTESTANTS / "machines_simlab.py", against=PEER),
        ),
        parameters={"n": n, "d": d, "depth": 3, "ridges": RIDGES},
        tolerance=1e-8,
        memory_mb=2 * 8 * n * n / 1024**2,
        targets=(
            Target(f"{PEER} over simlab", PEER, "simlab", at_least=5),
            Target(f"memory beyond the Gram matrix, simlab over {PEER}", "simlab", PEER, what="rise_mb", at_most=1),
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="?", choices=("path",), default="path")
    parser.add_argument("--rounds", type=int, default=1, help="interleaved timings, after the run that is compared")
    parser.add_argument("--n", type=int, default=20_000, help="samples")
    parser.add_argument("--d", type=int, default=20, help="input dimension")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="everything, machine and versions included")
    chosen = parser.parse_args()
    for name, least in (("n", 8), ("d", 2), ("threads", 1), ("rounds", 1)):
        if (value := getattr(chosen, name)) < least:
            parser.error(f"--{name} {value}: at least {least}")
    if chosen.threads > (available := resources.cores()):
        parser.error(f"--threads {chosen.threads}: this process may use {available} cores")
    problem = path(chosen.n, chosen.d)
    found = measure(problem, rounds=chosen.rounds, threads=chosen.threads, seed=chosen.seed, log=sys.stderr)
    if chosen.json:
        print(json.dumps({"benchmark": "machines", "machine": machine(), "problems": [found]}, indent=1))
    else:
        print(text(found), flush=True)
    sys.exit(1 if bad_news(found) else 0)


if __name__ == "__main__":
    main()
