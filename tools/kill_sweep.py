"""Kill simlab at random instants, start it again until it is done, and compare with the same work uninterrupted.

    python tools/kill_sweep.py --kills 500 --minutes 60       # kill -9; every kind of work in turn, spread over an hour
    python tools/kill_sweep.py --work gram,collate            # of sweep, gram, reproduce, collate, repair
    python tools/kill_sweep.py --kills 50 --signal TERM       # or INT: the exit code is checked too
    python tools/kill_sweep.py --reference DIR                # keep the uninterrupted work there, or use that of before

`kill -9` hits the parent alone, the parent and all workers at once, or one worker (which the parent replaces); during
start-up, anywhere, at work, or just when a file is being committed. Now and then a second process runs at the same time
and may be killed as well. After each kill nothing that was committed may be gone; at the end everything must be bit for
bit that of the uninterrupted work. Progress goes to standard error. Prints one JSON object; exits 1 at the first
violation, which names the seed of its round and keeps the files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kills.collate import Collate
from kills.gram import Gram
from kills.process import EXIT_CODES, EXIT_SECONDS, Command, Violation, wait_for
from kills.repair import Repair
from kills.reproduce import Reproduce
from kills.sweep import Sweep
from kills.work import Work

from simlab.core.errors import SimlabError

KINDS: dict[str, type[Work]] = {kind.name: kind for kind in (Sweep, Gram, Reproduce, Collate, Repair)}
MOMENTS = ("start", "any", "any", "work", "work", "work", "commit", "commit")
MOST_WORKERS_KILLED = 2  # of one process: a point at which three workers died counts as failed
MOST_KILLS = 8  # of one round; then it is left alone


@dataclass
class Tally:
    """What happened to one kind of work."""

    kills: int = 0
    with_committed: int = 0  # kills after which something was committed
    hit: Counter[str] = field(default_factory=Counter)
    moments: Counter[str] = field(default_factory=Counter)
    second: Counter[str] = field(default_factory=Counter)  # second processes started, by command
    rounds: int = 0  # done and compared
    starts: int = 0
    compared: int = 0  # datasets and files
    exits: list[float] = field(default_factory=list)
    kills_before: int = 0  # this round

    def as_dict(self, work: Work) -> dict[str, Any]:
        found = {key: dict(value) if isinstance(value, Counter) else value for key, value in vars(self).items()}
        del found["exits"], found["kills_before"]
        return {**found, **work.facts, "compares": work.compared}


@dataclass
class Hunt:
    """The settings of one call.

    signal: KILL, TERM or INT.
    longest: a kill comes within so many seconds of the start; None: within the time that the work takes.
    may_kill: whether another kill is due.
    most: kills of one round.
    """

    signal: str
    longest: float | None
    may_kill: Callable[[], bool]
    most: int = MOST_KILLS

    def round(self, work: Work, tally: Tally, chance: random.Random) -> None:
        """Start the work again and again until it is done, and compare it."""
        work.begin(chance)
        committed, finished = 0, False
        tally.kills_before = tally.kills
        commands: list[Command] = []
        try:
            while not finished:
                tally.starts += 1
                committed, finished = self._once(work, tally, chance, committed, commands)
            tally.compared += work.compare()
            tally.rounds += 1
            work.clear()
            for command in commands:  # orphans have ended by now
                if "Traceback" in command.said:
                    raise Violation("failing", f"simlab {' '.join(command.arguments)}: said {command.said}")
        finally:
            for command in commands:
                command.stderr.close()

    def _once(
        self, work: Work, tally: Tally, chance: random.Random, committed: int, commands: list[Command]
    ) -> tuple[int, bool]:
        """One process from start to end: how much is committed after it, and whether the work is done."""
        arguments = work.command(chance)
        killing = tally.kills - tally.kills_before < self.most
        second_arguments = work.second_command(chance) if killing else None
        began, life, before = time.monotonic(), self.longest or work.life_seconds, tally.kills
        command, second, hits = Command(arguments), None, 0
        commands.append(command)
        try:
            while killing and hits < MOST_WORKERS_KILLED and self.may_kill():
                moment = chance.choice(MOMENTS)
                if second_arguments and second is None:
                    wait_for(command, "any", life / 2, work.writing, work.look, chance)
                    second = Command(second_arguments)
                    commands.append(second)
                    tally.second[second_arguments[0]] += 1
                if not wait_for(command, moment, life, work.writing, work.look, chance):
                    break
                at = time.monotonic()
                target = command.kill(self.signal, chance)
                hits += 1
                self._count(tally, target, moment)
                if target != "worker":
                    command.wait(EXIT_SECONDS)
                    tally.exits.append(time.monotonic() - at)
                    break
            code, said = command.wait()
            if not (hits or committed):
                work.life_seconds = max(time.monotonic() - began, 0.8 * work.life_seconds)
            if second is not None:
                self._end_second(work, second, tally, chance)
        finally:
            for process in (command, second):
                if process is not None:
                    process.process.kill()
        if code != EXIT_CODES[self.signal] and not work.accepts(arguments, code, said, second is not None):
            raise Violation("failing", f"simlab {' '.join(arguments)}: exit code {code}: {said}")
        after = work.check()
        tally.with_committed += tally.kills - before if after else 0
        return after, code == 0

    def _end_second(self, work: Work, second: Command, tally: Tally, chance: random.Random) -> None:
        """Half of the second processes are killed too, the others must end well."""
        kill = chance.random() < 0.5 and self.signal == "KILL" and self.may_kill()
        if kill and wait_for(second, "any", work.life_seconds / 2, work.writing, work.look, chance):
            second.process.kill()
            self._count(tally, "second", "any")
        code, said = second.wait()
        if code != EXIT_CODES[self.signal] and not work.accepts(second.arguments, code, said, True):
            raise Violation("failing", f"second process: simlab {' '.join(second.arguments)}: exit code {code}: {said}")

    def _count(self, tally: Tally, target: str, moment: str) -> None:
        tally.kills += 1
        tally.hit[target] += 1
        tally.moments[moment] += 1


def hunt(home: Path, kinds: list[str], chosen: argparse.Namespace) -> dict[str, Any]:
    """Kill until enough were killed; the violation that ends it early is part of what is found."""
    works = {name: KINDS[name](home, chosen.workers, chosen.steps) for name in kinds}
    tallies = {name: Tally() for name in kinds}
    if chosen.reference is not None:
        for name, work in works.items():
            work.reference = chosen.reference if kinds == [name] else chosen.reference / name
    began, seed, found = time.monotonic(), chosen.seed, {"lost": 0, "differing": 0, "failing": 0}
    name = kinds[0]

    def killed() -> int:
        return sum(tally.kills for tally in tallies.values())

    def may_kill() -> bool:
        due = chosen.kills if not chosen.minutes else chosen.kills * (time.monotonic() - began) / (60 * chosen.minutes)
        return bool(killed() < min(chosen.kills, due + 1))

    violation = None
    try:
        for name in kinds:
            works[name].prepare()
            print(f"{name}: {works[name].life_seconds:.1f} s uninterrupted", file=sys.stderr, flush=True)
        seconds_uninterrupted, began = time.monotonic() - began, time.monotonic()
        attack = Hunt(chosen.signal, chosen.longest, may_kill, min(MOST_KILLS, -(-chosen.kills // len(kinds))))
        while killed() < chosen.kills:
            name = min(kinds, key=lambda kind: tallies[kind].kills)
            attack.round(works[name], tallies[name], random.Random(seed))
            minutes = (time.monotonic() - began) / 60
            print(f"{minutes:5.1f} min  {killed():4d} kills  {name} (seed {seed})", file=sys.stderr, flush=True)
            seed += 1
    except (Violation, SimlabError, OSError) as error:
        kind = error.kind if isinstance(error, Violation) else "failing"
        found[kind] += 1
        violation = {"work": name, "kind": kind, "what": str(error), "seed": seed, "files": str(home)}
        seconds_uninterrupted = time.monotonic() - began
    exits = [seconds for tally in tallies.values() for seconds in tally.exits]
    return {
        "signal": chosen.signal,
        "kills": killed(),
        **found,
        "violation": violation,
        "minutes": round((time.monotonic() - began) / 60, 2),
        "with_committed": sum(tally.with_committed for tally in tallies.values()),
        "hit": dict(sum((tally.hit for tally in tallies.values()), Counter())),
        "seed": chosen.seed,
        "seconds_uninterrupted": round(seconds_uninterrupted, 1),
        "seconds_to_exit": {"median": round(statistics.median(exits), 3), "max": round(max(exits), 3)} if exits else {},
        "load": os.getloadavg()[0],
        "work": {name: tally.as_dict(works[name]) for name, tally in tallies.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default=",".join(KINDS), help="kinds of work, with commas between them")
    parser.add_argument("--signal", choices=list(EXIT_CODES), default="KILL")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="spread the kills over so long; 0: one after another"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20_000, help="length of a sweep's points")
    parser.add_argument("--longest", type=float, help="a kill comes within this many seconds; default: the whole life")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; the next has one more")
    parser.add_argument("--reference", type=Path, help="directory of the uninterrupted work, kept")
    chosen = parser.parse_args()
    kinds = chosen.work.split(",")
    if unknown := set(kinds) - KINDS.keys():
        parser.error(f"--work: unknown {', '.join(sorted(unknown))} (allowed: {', '.join(KINDS)})")
    home = Path(tempfile.mkdtemp(prefix="simlab-kill-"))
    found = hunt(home, kinds, chosen)
    print(json.dumps(found, indent=1))
    if found["violation"] is not None:
        where = f"tools/kill_sweep.py --work {found['violation']['work']} --seed {found['violation']['seed']}"
        sys.exit(f"VIOLATION: {found['violation']['what']}\nbegin with this round: {where}; files: {home}")
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
