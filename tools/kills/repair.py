"""A run with a damaged segment: refused by `resume`, computed again by `resume --repair`, the damaged file kept."""

from __future__ import annotations

import contextlib
import random
import shutil
import time
from pathlib import Path

from kills.process import Command, Violation
from kills.sweep import SPEC, unfinished
from kills.work import Work, alone, committed, none_lost, same_datasets
from simlab.lab.directory import RunDirectory
from simlab.record.segments import Segment


def flip(path: Path, chance: random.Random) -> int:
    """Change one random bit of a file; returns its number."""
    content = bytearray(path.read_bytes())
    bit = chance.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    return bit


class Repair(Work):
    name = "repair"
    compared = "every dataset of results.h5; the bytes of the damaged segment that was set aside"

    def prepare(self) -> None:
        spec = self.home / f"{self.name}.toml"
        spec.write_text(SPEC.format(steps=self.steps), encoding="utf-8")
        self.stopped, self.whole = self.reference / "unfinished", self.reference / "whole"
        if not self.whole.exists():
            unfinished(spec, self.stopped, 4)
            shutil.copytree(self.stopped, self.whole)
        self.life_seconds = alone(["resume", str(self.whole), "--workers", str(self.workers), "-q"])

    def begin(self, chance: random.Random) -> None:
        shutil.copytree(self.stopped, self.place)
        victim = chance.choice(sorted((self.place / "segments").glob("*.h5")))
        self.victim, hit = victim.name, Segment.read(victim)
        touched = hit.points
        run = RunDirectory(self.place)
        index = run.index(run.read_spec())
        # Of a point under way nobody knows what an earlier commit of it held: it begins anew.
        touched |= {point for point, at in index.checkpoints.items() if at.reached.serial > 1}
        whole = committed(self.place)
        self.bit = flip(victim, chance)
        self.damaged = victim.read_bytes()
        self.before = {point: records for point, records in whole.items() if point not in touched}
        code, said = Command(["resume", str(self.place), "-q"]).ended()
        if code != 2 or victim.name not in said or "--repair" not in said:
            raise Violation("failing", f"bit {self.bit} of {victim.name} flipped: `resume` ended with {code}: {said}")

    def command(self, chance: random.Random) -> list[str]:
        return ["resume", str(self.place), "--repair", "--workers", str(chance.choice([1, self.workers])), "-q"]

    def check(self) -> int:
        if not self._is_kept():
            raise Violation("lost", f"{self.place}: the damaged segment {self.victim} is not kept")
        if (self.place / "segments" / self.victim).exists():  # not set aside yet
            return 0
        now = committed(self.place)
        none_lost(self.before, now, self.place)
        self.before = now
        self.sound(self.place)
        return len(now)

    def _is_kept(self) -> bool:
        """Whether some file has the bytes of the damaged one; an orphan may be moving it at this instant."""
        for _ in range(10):
            for path in self.place.rglob("*.h5*"):
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_size == len(self.damaged) and path.read_bytes() == self.damaged:
                        return True
            time.sleep(0.1)
        return False

    def compare(self) -> int:
        self.check()
        return same_datasets(self.place / "results.h5", self.whole / "results.h5") + 1
