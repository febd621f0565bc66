"""A Gram file of 45 blocks, committed after nearly every one: what the journal lists is on the disk after any kill."""

from __future__ import annotations

import json
import random
from pathlib import Path

import h5py
import numpy as np

from kills.process import Violation
from kills.work import Work, alone, same_datasets
from simlab.kernels.gram.stored import verify_gram

ROWS, DIM = 9 * 384, 600
MEMORY = "424MB"  # blocks of 384 rows


class Gram(Work):
    name = "gram"
    compared = "every byte of the datasets; after each kill every block that the journal lists"

    def prepare(self) -> None:
        self.reference.mkdir(parents=True, exist_ok=True)
        self.inputs = self.home / "X.npy"
        np.save(self.inputs, np.random.default_rng(5).standard_normal((ROWS, DIM)))
        self.life_seconds = alone(self._arguments(self.reference))
        with h5py.File(self.reference / "K.h5") as file:
            self.whole = {name: np.asarray(dataset[()]) for name, dataset in file.items()}

    def _arguments(self, place: Path, seconds: str = "0") -> list[str]:
        return ["gram", "nngp,ntk", str(self.inputs), "--depth", "3", "--float32", "--memory", MEMORY,
                "--commit-seconds", seconds, "-o", str(place / "K.h5"), "-q"]  # fmt: skip

    def begin(self, chance: random.Random) -> None:
        self.place.mkdir()
        self.before: set[int] = set()
        self.finished = False

    def command(self, chance: random.Random) -> list[str]:
        return self._arguments(self.place, chance.choice(["0", "0", "0", "0.2"]))

    def second_command(self, chance: random.Random) -> list[str] | None:
        return self.command(chance) if chance.random() < 0.25 else None

    def check(self) -> int:
        """The blocks that are committed, each compared with the uninterrupted file, and none fewer than before."""
        if (self.place / "K.h5").exists():
            self.finished = True
            self.facts["sound_checks"] += 1
            if lines := verify_gram(self.place / "K.h5"):
                raise Violation("failing", f"called damaged after a kill: {lines[0]}")
            return self.compare()
        if self.finished:
            raise Violation("lost", f"{self.place / 'K.h5'}: was finished and is gone")
        journal = self.place / "K.h5.part.json"
        if not journal.exists():
            done, block = set(), ROWS
        else:
            state = json.loads(journal.read_text(encoding="utf-8"))
            done, block = {int(number) for number, *_ in state["done"]}, int(state["block"])
        if self.before - done:
            raise Violation("lost", f"{journal}: blocks {sorted(self.before - done)} were committed and are gone")
        self.before = done
        if done:
            self._compare_blocks(done, block)
        return len(done)

    def _compare_blocks(self, done: set[int], block: int) -> None:
        starts = range(0, ROWS, block)
        places = [(slice(i, i + block), slice(j, j + block)) for i in starts for j in starts if j <= i]
        with h5py.File(self.place / "K.h5.part") as file:
            for name, whole in self.whole.items():
                for number in sorted(done):
                    rows, columns = places[number]
                    for here in ((rows, columns), (columns, rows)):
                        if file[name][here].tobytes() != whole[here].tobytes():
                            raise Violation(
                                "differing", f"{self.place}: block {number} of {name} is committed and wrong"
                            )

    def compare(self) -> int:
        if left := [path.name for path in self.place.iterdir() if path.name not in ("K.h5", "K.h5.lock")]:
            self.facts["left_beside_finished"] = sorted({*self.facts.get("left_beside_finished", ()), *left})
        return same_datasets(self.place / "K.h5", self.reference / "K.h5")
