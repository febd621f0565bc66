"""Collating an unfinished run whose results.h5 is missing or old: at any instant it is the old one or the new one."""

from __future__ import annotations

import random
import shutil

from kills.process import Violation
from kills.sweep import SPEC, unfinished
from kills.work import Work, alone, same_datasets


class Collate(Work):
    name = "collate"
    compared = "every dataset of results.h5, at any instant"

    def prepare(self) -> None:
        spec = self.home / f"{self.name}.toml"
        spec.write_text(SPEC.format(steps=20 * self.steps), encoding="utf-8")
        self.old, self.new = self.reference / "old", self.reference / "new"
        if not (self.new / "results.h5").exists():
            unfinished(spec, self.old, 3)
            alone(["collate", str(self.old), "-q"])
            shutil.copytree(self.old, self.new)
            unfinished(spec, self.new, 6)
        self.life_seconds = alone(["collate", str(self.new), "-q"])

    def begin(self, chance: random.Random) -> None:
        shutil.copytree(self.new, self.place)
        (self.place / "results.h5").unlink()
        self.held = chance.random() < 0.5
        if self.held:
            shutil.copy2(self.old / "results.h5", self.place / "results.h5")

    def command(self, chance: random.Random) -> list[str]:
        return ["collate", str(self.place), "-q"]

    def second_command(self, chance: random.Random) -> list[str] | None:
        at = str(self.place)
        return chance.choice([None, None, ["collate", at, "-q"], ["show", at], ["status", at]])

    def look(self) -> None:
        results = self.place / "results.h5"
        if not results.exists():
            if self.held:
                raise Violation("lost", f"{results}: was there and is gone")
            return
        self.held = True
        # One state of the file for both comparisons: a worker whose parent was killed may be replacing it.
        seen = self.home / "results_seen.h5"
        shutil.copyfile(results, seen)
        try:
            same_datasets(seen, self.new / "results.h5")
        except Violation:
            same_datasets(seen, self.old / "results.h5")

    def check(self) -> int:
        self.look()
        self.sound(self.place)
        return int(self.held)

    def compare(self) -> int:
        return same_datasets(self.place / "results.h5", self.new / "results.h5")
