"""A sweep, run and resumed; beside it now and then status, show, collate, or a second process on the same directory."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

from kills.process import EXIT_CODES, Command, Violation
from kills.work import Work, agrees_so_far, alone, committed, datasets, none_lost, same_bytes, same_datasets
from simlab.record.writer import MERGE_SEGMENTS

SPEC = """
[experiment]
kind = "gradient_flow"
seed = 11
samples = 40
test_samples = 20
records = 400
[data]
kind = "uniform_sphere"
dim = 8
[target]
kind = "relu_teacher"
[network]
kind = "two_layer"
[flow]
kind = "gradient_descent"
steps = {steps}
step = 0.4
step_unit = "edge"
[sweep]
"flow.alpha" = [1.0, 8.0]
"network.width" = [32, 200]
seeds = 3
[figure]
kind = "trajectories"
x = "step"
y = ["train_loss", "test_loss"]
"""
COMMIT_SECONDS = ("0", "0.3", "30")


class Sweep(Work):
    name = "sweep"
    compared = "every dataset of results.h5 and figure.png; while it runs every value that is there already"

    def prepare(self) -> None:
        self.spec = self.home / f"{self.name}.toml"
        self.spec.write_text(SPEC.format(steps=self.steps), encoding="utf-8")
        self.facts["most_segments"] = 0
        self.life_seconds = alone(
            ["run", str(self.spec), "-o", str(self.reference), "--workers", str(self.workers), "-q"]
        )
        self.whole = datasets(self.reference / "results.h5")

    def begin(self, chance: random.Random) -> None:
        self.before: dict[int, int] = {}

    def command(self, chance: random.Random) -> list[str]:
        known = (self.place / "spec.toml").exists()
        what = ["resume", str(self.place)] if known else ["run", str(self.spec), "-o", str(self.place)]
        workers, seconds = chance.choice([1, self.workers]), chance.choice(COMMIT_SECONDS)
        return [*what, "--workers", str(workers), "--commit-seconds", seconds, "-q"]

    def second_command(self, chance: random.Random) -> list[str] | None:
        at = str(self.place)
        if not (self.place / "spec.toml").exists() or chance.random() < 0.4:
            return None
        return chance.choice([["status", at], ["show", at], ["collate", at, "-q"], ["resume", at, "-q"]])

    def look(self) -> None:
        results = self.place / "results.h5"
        if results.exists():
            agrees_so_far(results, self.whole)
        if (self.place / "figure.png").exists():
            same_bytes(self.place / "figure.png", self.reference / "figure.png")

    def check(self) -> int:
        now = committed(self.place)
        none_lost(self.before, now, self.place)
        self.before = now
        self.look()
        self.sound(self.place)
        files = sum(1 for _ in (self.place / "segments").glob("*.h5"))
        self.facts["most_segments"] = max(self.facts["most_segments"], files)
        return len(now)

    def compare(self) -> int:
        count = same_datasets(self.place / "results.h5", self.reference / "results.h5")
        count += same_bytes(self.place / "figure.png", self.reference / "figure.png")
        return count


def unfinished(spec: Path, directory: Path, segments: int, merged: bool = False) -> None:
    """Run a sweep into `directory` until it has so many segments (and a merged one), then stop it by a signal.

    On a busy machine, where commits are rarer, it may come to its end before.
    """
    command = Command(["run", str(spec), "-o", str(directory), "--commit-seconds", "0", "-q"])

    def enough() -> bool:
        names = [path.stem for path in (directory / "segments").glob("*.h5")]
        # A writer numbers its segments; it merges the first eight.
        return len(names) >= segments and (not merged or any(int(name[-6:]) >= MERGE_SEGMENTS for name in names))

    while command.alive and not enough():
        time.sleep(0.01)
    command.process.send_signal(signal.SIGINT)
    code, said = command.ended()
    if code not in (0, EXIT_CODES["INT"]):
        raise Violation("failing", f"{directory}: to be stopped by SIGINT, exit code {code}: {said}")
