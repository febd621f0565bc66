"""Benchmarks beside peers: same inputs, answers compared before anything is timed, rounds interleaved.

A `Problem` makes its inputs from a seed into one npz file that every `Contestant` reads. A contestant is a script
(`contestants/serve.py` explains the protocol) in a process and an environment of its own: simlab's in this
interpreter's, a peer's in the one that `peers.sh` made. `measure` then

1. lets each answer once, and compares: one that differs by more than its tolerance is marked DISAGREES, not timed;
2. times the others in turn, A B C A B C …, with equal threads on the same cores. Only one computes at a time: the
   others are stopped (SIGSTOP), since the thread pools of some libraries spin while they wait. Each finds memory that
   was touched just before it (`warm_memory`);
3. reads each one's peak memory;
4. holds the figures to the targets: ok, MISSED, or not measured.

A contestant that is not there is reported as missing, and its targets as not measured: neither is an error.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from busy import busy_core
from numpy.typing import NDArray

CONTESTANTS = Path(__file__).parent / "contestants"
QUIT_SECONDS = 10.0  # that a contestant has to quit by itself
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Contestant:
    """One program that computes the problem.

    name: name of its row.
    script: file in contestants/.
    peer: environment of `peers.sh` that it runs in; None: that of this interpreter.
    parameters: added to the problem's own.
    against: contestant whose answer it must give; None: nothing to compare.
    tolerances: pattern of an answer's name → largest difference, first match first; otherwise the problem's.
    timed: whether it takes part in the rounds.
    python: interpreter of its own; None: this one, or the peer's.
    checkout: directory of the simlab that it imports, an earlier one; None: the one that is installed.
    threads: number of threads of its own, on the cores of all; None: that of the others.
    beside_work: whether another process keeps one of its cores busy while it is timed.
    """

    name: str
    script: Path
    peer: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    against: str | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    timed: bool = True
    python: Path | None = None
    checkout: Path | None = None
    threads: int | None = None
    beside_work: bool = False


@dataclass(frozen=True)
class Target:
    """A bound on a measured number of contestant `of`, or on its ratio to that of `over`.

    name: what the report calls it.
    of: name of a contestant.
    over: contestant whose number it is divided by; None: not divided.
    what: seconds (median over the rounds), first_seconds or rise_mb.
    at_least: lower bound; None: no bound.
    at_most: upper bound; None: no bound.
    """

    name: str
    of: str
    over: str | None = None
    what: str = "seconds"
    at_least: float | None = None
    at_most: float | None = None


def largest_difference(ours: NDArray[Any], theirs: NDArray[Any]) -> dict[str, float]:
    """Relative to the largest value."""
    return {"": float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))}


@dataclass(frozen=True)
class Problem:
    """What all contestants compute from the same inputs.

    name: name of the problem.
    inputs: draws the inputs.
    contestants: in the order of the rows.
    parameters: what contestants get besides the inputs.
    tolerance: largest difference of two answers that agree.
    difference: (answer, the one it must equal) → differences, by what is added to the answer's name.
    targets: what must hold of the timings.
    memory_mb: memory that the largest run touches; so much is touched and freed before every run (`warm_memory`).
    rounds: number of timings, where it is not that of the command line; 0: nothing is timed but the first run.
    """

    name: str
    inputs: Callable[[np.random.Generator], Arrays]
    contestants: tuple[Contestant, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-10
    difference: Callable[[NDArray[Any], NDArray[Any]], dict[str, float]] = largest_difference
    targets: tuple[Target, ...] = ()
    memory_mb: float = 0.0
    rounds: int | None = None


@dataclass
class Entry:
    """What was found of one contestant.

    name: its name.
    status: ok, missing, failed or DISAGREES.
    message: why it is not ok.
    versions: library → version.
    prepare_seconds: time for imports and inputs.
    first_seconds: time of the run that gave the answer; compilation is in it.
    seconds: time of each round.
    cpu_seconds: CPU time of each round, of all threads together; unlike `seconds` it hardly depends on other programs.
    peak_mb: largest memory of the process.
    rise_mb: its rise over the memory after the preparation.
    comparison: how each answer differs from the one it must equal.
    unanswered: answers that it lacks.
    """

    name: str
    status: str = "ok"
    message: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    prepare_seconds: float | None = None
    first_seconds: float | None = None
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak_mb: float | None = None
    rise_mb: float | None = None
    comparison: list[dict[str, Any]] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)


class Refusal(Exception):
    """A contestant did not do what it was asked: status (missing or failed) and why."""


def peer_home() -> Path:
    return Path(os.environ.get("SIMLAB_BENCH_PEERS") or Path.home() / ".cache" / "simlab-bench")


def environment(threads: int, peer: bool) -> dict[str, str]:
    """Equal threads for every library. XLA has no setting but on or off: it counts the cores that it may use."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    variables = {**os.environ, **dict.fromkeys(names, str(threads))}
    variables["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    variables |= {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "2"}
    if peer:
        variables.pop("PYTHONPATH", None)
    return variables


def cores(threads: int) -> list[int]:
    """The cores that every contestant is pinned to, or none where the system cannot pin."""
    if sys.platform != "linux" or shutil.which("taskset") is None:
        return []
    return sorted(os.sched_getaffinity(0))[:threads]


def warm_memory(megabytes: float) -> None:
    """Touch fresh memory and free it again, so that the next run's page faults are the system's and not the host's.

    On a virtual machine whose host takes freed pages back, memory that was freed a second ago costs ten times as much
    to touch (measured: X @ X.T and two writes at n = 10,000 take 0.8 s at once, 9 s after a pause of ten seconds). A
    short run after a rival's long one would pay for that.
    """
    touched = np.empty(int(megabytes * 2**17))
    touched.fill(1.0)


class Process:
    """A contestant at work; it is stopped whenever it is not asked anything."""

    def __init__(self, contestant: Contestant, threads: int, errors: Path, timeout: float) -> None:
        python = contestant.python or Path(sys.executable)
        if contestant.peer is not None:
            python = peer_home() / contestant.peer / "bin" / "python"
            if not python.exists():
                raise Refusal("missing", f"no {python}: tools/bench/peers.sh {contestant.peer}")
        command = [str(python), str(contestant.script)]
        if pinned := cores(threads):
            command = ["taskset", "-c", ",".join(map(str, pinned)), *command]
        self.errors, self.timeout = errors, timeout
        variables = environment(contestant.threads or threads, contestant.peer is not None)
        if contestant.checkout is not None:
            variables["PYTHONPATH"] = str(contestant.checkout)
        with errors.open("w") as stderr:
            self.popen = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=variables
            )

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.popen.send_signal(signal.SIGCONT)
        try:
            self.popen.stdin.write(json.dumps({"do": do, **details}).encode() + b"\n")
            self.popen.stdin.flush()
        except BrokenPipeError:
            raise Refusal("failed", self.last_words()) from None
        if not select.select([self.popen.stdout], [], [], self.timeout)[0]:
            raise Refusal("failed", f"{do} took more than {self.timeout:g} s")
        line = self.popen.stdout.readline()
        self.popen.send_signal(signal.SIGSTOP)
        if not line:
            raise Refusal("failed", self.last_words())
        reply: dict[str, Any] = json.loads(line)
        for status in ("missing", "failed"):
            if status in reply:
                raise Refusal(status, reply[status])
        return reply

    def last_words(self) -> str:
        code = self.popen.wait()
        written = self.errors.read_text().strip().splitlines()
        return f"ended with code {code}: {written[-1] if written else 'no message'}"

    def close(self) -> None:
        """Asked to quit first, so that what a library does at exit (caches, profiles) is done."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGCONT)
            try:
                self.popen.communicate(b'{"do": "quit"}\n', timeout=QUIT_SECONDS)
            except subprocess.TimeoutExpired:
                self.popen.kill()
        self.popen.communicate()


def compare(problem: Problem, contestant: Contestant, ours: Arrays, theirs: Arrays) -> list[dict[str, Any]]:
    """One row per difference: the answer's name, the tolerance, the difference, whether it agrees. NaN never does."""
    rows = []
    for name in sorted(ours.keys() & theirs.keys()):
        if ours[name].shape == theirs[name].shape:
            found = problem.difference(ours[name], theirs[name])
        else:
            found = {" shape": float("inf")}
        for suffix, difference in found.items():
            full = name + suffix
            fitting = (value for pattern, value in contestant.tolerances.items() if fnmatch.fnmatch(full, pattern))
            tolerance = next(fitting, problem.tolerance)
            # JSON has no infinity.
            shown = difference if np.isfinite(difference) else None
            agrees = bool(difference <= tolerance)
            rows.append({"answer": full, "tolerance": tolerance, "difference": shown, "agrees": agrees})
    return rows


def judge(target: Target, entries: Mapping[str, Entry]) -> dict[str, Any]:
    """A ratio of times is the median over the rounds of each round's own: drift of the machine cancels."""
    series = []
    for name in filter(None, (target.of, target.over)):
        entry = entries.get(name)
        value = getattr(entry, target.what) if entry is not None and entry.status == "ok" else None
        series.append(np.atleast_1d(np.asarray([] if value is None else value, dtype=float)))
    relation, bound = ("≥", target.at_least) if target.at_least is not None else ("≤", target.at_most)
    assert bound is not None, f"{target.name}: at_least or at_most"
    unit = "x" if target.over is not None else {"rise_mb": " MB"}.get(target.what, " s")
    row = {"target": target.name, "wanted": f"{relation} {bound:g}{unit}", "unit": unit}
    if any(len(values) == 0 for values in series):
        return {**row, "measured": None, "range": None, "verdict": "not measured"}
    ratios = series[0] / series[1] if target.over is not None else series[0]
    measured = float(np.median(ratios))
    held = measured >= bound if relation == "≥" else measured <= bound
    return {
        **row, "measured": measured, "range": [float(ratios.min()), float(ratios.max())],
        "verdict": "ok" if held else "MISSED",
    }  # fmt: skip


def measure(
    problem: Problem, *, rounds: int, threads: int, seed: int = 0, timeout: float = 3600.0, log: TextIO | None = None
) -> dict[str, Any]:
    """Everything that was found, ready for JSON."""
    rounds = rounds if problem.rounds is None else problem.rounds
    parameters = {**problem.parameters, "threads": threads}
    entries = {contestant.name: Entry(contestant.name) for contestant in problem.contestants}
    processes: dict[str, Process] = {}
    answers: dict[str, Arrays] = {}
    order: list[str] = []
    load = {"before": os.getloadavg()}

    def ask(name: str, do: str, **details: Any) -> dict[str, Any] | None:
        if log is not None:
            print(f"{problem.name}: {name}: {do}", file=log, flush=True)
        if do in ("answer", "run"):
            warm_memory(problem.memory_mb)
        try:
            return processes[name].ask(do, **details)
        except Refusal as refusal:
            entries[name].status, entries[name].message = refusal.args
            processes.pop(name).close()
            return None

    with tempfile.TemporaryDirectory(prefix="simlab-bench-") as directory:
        home = Path(directory)
        inputs: dict[str, Any] = problem.inputs(np.random.default_rng(seed))
        np.savez(home / "inputs.npz", **inputs)
        try:
            for at, contestant in enumerate(problem.contestants):
                entry = entries[contestant.name]
                try:
                    processes[entry.name] = Process(contestant, threads, home / f"{at}.log", timeout)
                except Refusal as refusal:
                    entry.status, entry.message = refusal.args
                    continue
                own = {} if contestant.threads is None else {"threads": contestant.threads}
                given = {**parameters, **own, **contestant.parameters}
                details = {"inputs": str(home / "inputs.npz"), "parameters": given}
                if (reply := ask(entry.name, "prepare", **details)) is None:
                    continue
                entry.versions, entry.prepare_seconds = reply["versions"], reply["seconds"]
                if (reply := ask(entry.name, "answer", path=str(home / f"{at}.npz"))) is None:
                    continue
                entry.first_seconds = reply["seconds"]
                with np.load(home / f"{at}.npz") as file:
                    answers[entry.name] = {name: file[name] for name in file.files}

            for contestant in problem.contestants:
                entry = entries[contestant.name]
                if contestant.against is None or entry.name not in answers:
                    continue
                if contestant.against not in answers:
                    entry.message = f"not compared: no answer from {contestant.against}"
                    continue
                ours, theirs = answers[entry.name], answers[contestant.against]
                entry.comparison = compare(problem, contestant, ours, theirs)
                entry.unanswered = sorted(theirs.keys() - ours.keys())
                if not entry.comparison:
                    entry.message = f"not compared: no answer in common with {contestant.against}"
                if not all(row["agrees"] for row in entry.comparison):
                    entry.status, entry.message = "DISAGREES", f"with {contestant.against}; not timed"

            racing = {c.name: c for c in problem.contestants if c.timed and entries[c.name].status == "ok"}
            for _ in range(rounds):
                for name, contestant in racing.items():
                    if name not in processes:
                        continue
                    with busy_core(cores(threads), timeout) if contestant.beside_work else contextlib.nullcontext():
                        reply = ask(name, "run")
                    if reply is not None:
                        entries[name].seconds.append(reply["seconds"])
                        entries[name].cpu_seconds.append(reply["cpu_seconds"])
                        order.append(name)
            for name in list(processes):
                if (reply := ask(name, "memory")) is not None:
                    entries[name].peak_mb, entries[name].rise_mb = reply["peak_mb"], reply["rise_mb"]
        finally:
            for process in processes.values():
                process.close()
    load["after"] = os.getloadavg()
    return {
        "problem": problem.name, "parameters": parameters, "seed": seed, "rounds": rounds,
        "cores": cores(threads), "load": load, "order": order,
        "contestants": [vars(entry) for entry in entries.values()],
        "targets": [judge(target, entries) for target in problem.targets],
    }  # fmt: skip


def machine() -> dict[str, Any]:
    cpu = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        cpu = next((x.split(":")[1].strip() for x in information.read_text().splitlines() if "model name" in x), cpu)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024**2
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_mb": round(memory), "platform": platform.platform()}
