"""Kernels of deep nets beside neural-tangents, the physical limit and the written-out recursion.

    tools/bench/peers.sh neural-tangents              # once: the peer's own environment
    python tools/bench/kernels.py gram                # n = 10,000: some minutes, most of them neural-tangents'
    python tools/bench/kernels.py gram --n 2000 --rounds 5
    python tools/bench/kernels.py recursion           # ten activations against neural-tangents' closed forms
    python tools/bench/kernels.py all --json > kernels.json

gram       NNGP and NTK of ReLU nets together, float64, points of the unit sphere, at depth 2 and 11. A quarter thousand
           evenly spaced rows are compared with the recursion written out in long doubles.
depth      the same at depth 2 and 100, without the peer and with more rounds.
recursion  the general recursion (weight and bias variance, inputs of any norm): agreement with neural-tangents,
           relative to √(K_ii K_jj); nothing is timed but the first run.
spectrum   all the eigenvalues of NTK depth 3 up to a degree, first call of a fresh process.

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target, machine, measure
from numpy.typing import NDArray
from report import bad_news, text

from simlab.core import resources

SIMLAB = CONTESTANTS / "kernels_simlab.py"
NEURAL_TANGENTS = CONTESTANTS / "kernels_neural_tangents.py"
PEER = "neural-tangents"

# neural-tangents takes θ from √(q q' − c²), and so leaves half of the digits where two inputs coincide.
KINKED_DIAGONAL = 1e-6


def gram_difference(ours: NDArray[Any], theirs: NDArray[Any]) -> dict[str, float]:
    """Relative to √(K_ii K_jj), the diagonal apart."""
    scale = np.sqrt(np.diag(theirs))
    relative = np.abs(ours - theirs) / np.outer(scale, scale)
    diagonal = float(np.max(np.diag(relative)))
    np.fill_diagonal(relative, 0.0)
    return {"": float(np.max(relative)), " diagonal": diagonal}


def gram(n: int, d: int) -> Problem:
    """Beside neural-tangents, which takes half a minute per run: few rounds."""
    return _gram("gram", n, d, (2, 11), (2, 11))


def depth(n: int, d: int) -> Problem:
    """Without it: many short rounds, as a ratio near 1 is easily lost in the noise of page faults."""
    return _gram("depth", n, d, (2, 100), (), rounds=15)


def _gram(
    name: str, n: int, d: int, depths: tuple[int, ...], peer_depths: tuple[int, ...], rounds: int | None = None
) -> Problem:

    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((n, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return {"X": X, "compared": np.unique(np.linspace(0, n - 1, min(n, 256)).astype(int))}

    def contestant(name: str, script: str, depth: int, **options: Any) -> Contestant:
        path = CONTESTANTS / f"kernels_{script}.py"
        return Contestant(f"{name}, depth {depth}", path, parameters={"depth": depth}, **options)

    exact = [contestant("recursion", "recursion", depth, timed=False) for depth in depths]
    simlab = [
        contestant("simlab", "simlab", depth, against=f"recursion, depth {depth}", tolerances={"* diagonal": 1e-12})
        for depth in depths
    ]
    peers = [
        contestant(
            PEER, "neural_tangents", depth,
            peer=PEER, against=f"recursion, depth {depth}", tolerances={"* diagonal": KINKED_DIAGONAL},
        )
        for depth in peer_depths
    ]  # fmt: skip
    limit = Contestant("limit: X @ X.T, two writes", CONTESTANTS / "kernels_limit.py")
    outputs_mb = 2 * 8 * n * n / 1024**2
    targets = {
        "gram": (
            Target(f"{PEER} over simlab, 10 hidden layers", f"{PEER}, depth 11", "simlab, depth 11", at_least=30),
            Target("depth 2 over the limit", "simlab, depth 2", limit.name, at_most=1.5),
            Target(
                f"memory: outputs ({outputs_mb:.0f} MB) + 200 MB",
                "simlab, depth 11", what="rise_mb", at_most=round(outputs_mb + 200),
            ),
        ),
        "depth": (
            Target("depth 100 over depth 2", "simlab, depth 100", "simlab, depth 2", at_most=1.15),
            Target("depth 2 over the limit", "simlab, depth 2", limit.name, at_most=1.5),
        ),
    }  # fmt: skip
    return Problem(
        name,
        inputs,
        (*exact, limit, *simlab, *peers),
        parameters={"task": "gram", "n": n, "d": d},
        tolerance=1e-11,
        difference=gram_difference,
        memory_mb=2 * outputs_mb,
        targets=targets[name],
        rounds=rounds,
    )


def recursion(n: int, d: int) -> Problem:
    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((n, d))
        return {"X": X * rng.uniform(0.5, 2.0, (n, 1))}

    def case(activation: str, *depths: int, kinds: tuple[str, ...] = ("nngp", "ntk"), **fields: Any) -> dict[str, Any]:
        return {"activation": activation, "depths": depths, "kinds": kinds, "fields": fields}

    cases = [case(name, 2, 4) for name in ("relu", "abs", "erf", "gelu", "sin", "cos")]
    cases += [case("leaky_relu", 2, 4, slope=0.1), case("monomial", 2, 4, degree=3)]
    # Deeper, exp overflows, and neural-tangents' sign net loses half of its digits on the diagonal at every layer (at
    # depth 4 it is wrong by 7e-3). A sign net has no tangent kernel.
    cases += [case("exp", 2), case("sign", 2, kinds=("nngp",))]
    kinked = {f"{name} * diagonal": KINKED_DIAGONAL for name in ("relu", "abs", "leaky_relu", "sign")}
    shared = {"task": "recursion", "n": n, "d": d, "cases": cases}
    stds = {"weight_std": 0.6, "bias_std": 0.3}
    return Problem(
        "recursion",
        inputs,
        (
            Contestant(PEER, NEURAL_TANGENTS, peer=PEER, timed=False),
            Contestant("simlab", SIMLAB, against=PEER, tolerances=kinked, timed=False),
        ),
        parameters={**shared, **stds},
        tolerance=1e-10,
        difference=gram_difference,
        rounds=0,
    )


def spectrum() -> Problem:
    sizes = ((10, 1000), (64, 200), (500, 100))
    names = {size: f"simlab, d = {size[0]}, degrees to {size[1]}" for size in sizes}
    return Problem(
        "spectrum",
        lambda rng: {},
        tuple(
            Contestant(name, SIMLAB, parameters={"depth": 3, "dim": dim, "max_degree": degree}, timed=False)
            for (dim, degree), name in names.items()
        ),
        parameters={"task": "spectrum"},
        # A second call would find the first one's result in a cache.
        targets=tuple(Target(name, name, what="first_seconds", at_most=10.0) for name in names.values()),
        rounds=0,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="?", choices=("gram", "depth", "recursion", "spectrum", "all"), default="all")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved timings of gram")
    parser.add_argument("--n", type=int, help="points (gram 10,000, recursion 200)")
    parser.add_argument("--d", type=int, help="input dimension (gram 64, recursion 20)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="everything, machine and versions included")
    chosen = parser.parse_args()
    for name, least in (("n", 2), ("d", 2), ("threads", 1), ("rounds", 1)):
        value = getattr(chosen, name)
        if value is not None and value < least:
            parser.error(f"--{name} {value}: at least {least}")
    if chosen.threads > (available := resources.cores()):
        parser.error(f"--threads {chosen.threads}: this process may use {available} cores")
    problems = {
        "gram": lambda: gram(chosen.n or 10_000, chosen.d or 64),
        "depth": lambda: depth(chosen.n or 10_000, chosen.d or 64),
        "recursion": lambda: recursion(chosen.n or 200, chosen.d or 20),
        "spectrum": spectrum,
    }
    found = []
    for name, make in problems.items():
        if chosen.problem in (name, "all"):
            found.append(
                measure(make(), rounds=chosen.rounds, threads=chosen.threads, seed=chosen.seed, log=sys.stderr)
            )
            if not chosen.json:
                print(text(found[-1]), flush=True)
    if chosen.json:
        print(json.dumps({"benchmark": "kernels", "machine": machine(), "problems": found}, indent=1))
    sys.exit(1 if any(map(bad_news, found)) else 0)


if __name__ == "__main__":
    main()
