"""A ledger of two quick claims, each with its control: verdicts, results and figures as if never stopped."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from kills.process import Violation
from kills.work import Work, alone, committed, none_lost, same_bytes, same_datasets

CLAIMS = ("step_depth", "certificate_width")  # 4 s each when nothing else runs


class Reproduce(Work):
    name = "reproduce"
    compared = "every dataset of every results.h5, verdict.json, ledger.json and figure.png"

    def prepare(self) -> None:
        self.life_seconds = alone(["reproduce", *CLAIMS, "--quick", "-o", str(self.reference), "-q"])
        self.runs = sorted(path.parent.relative_to(self.reference) for path in self.reference.rglob("results.h5"))

    def begin(self, chance: random.Random) -> None:
        self.before: dict[Path, dict[int, int]] = {}
        self.judged: dict[Path, Any] = {}

    def command(self, chance: random.Random) -> list[str]:
        workers = str(chance.choice([1, self.workers]))
        return ["reproduce", *CLAIMS, "--quick", "-o", str(self.place), "--workers", workers, "-q"]

    def check(self) -> int:
        """Records of both sides of every claim, and every verdict, that were there before."""
        found = 0
        for run in self.runs:
            now = committed(self.place / run) if (self.place / run).exists() else {}
            none_lost(self.before.get(run, {}), now, self.place / run)
            self.before[run] = now
            self.sound(self.place / run)
            found += len(now)
        for path in [*self.judged, *self.place.rglob("*.json")]:
            try:
                self.judged[path] = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise Violation("lost", f"{path}: was written and cannot be read: {error}") from error
        for path in self.place.rglob("*.png"):
            same_bytes(path, self.reference / path.relative_to(self.place))
        return found

    def compare(self) -> int:
        pairs = ((self.place / run / "results.h5", self.reference / run / "results.h5") for run in self.runs)
        count = sum(same_datasets(*pair) for pair in pairs)
        for path in sorted(self.reference.rglob("*")):
            if path.suffix in (".json", ".png"):
                count += same_bytes(self.place / path.relative_to(self.reference), path)
        return count
