"""Flip single bits of segments, Gram files and results, and see that each is found, and that sound files never are.

    python tools/flip_bits.py --flips 200                     # a third each; as many checks of sound files in between
    python tools/flip_bits.py --flips 24 --commands 1 --quick # a shorter sweep; six flips through real commands

Most flips are judged by the functions that the commands call (`verify_run`, `verify_gram`, `gram_file`); some by the
commands themselves: `resume` and `gram` must refuse and name the file, and with `--repair` (results.h5: without) give
what an undamaged run gives, bit for bit. Prints one JSON object; exits 1 if a flip was missed or a sound file reported.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np
from kills.process import Command, Violation
from kills.repair import flip
from kills.sweep import SPEC, unfinished
from kills.work import alone, content, datasets, same_datasets

from simlab.core.errors import BadInput
from simlab.kernels.gram import stored
from simlab.kernels.gram.store import Limits, Listener, gram_file
from simlab.record import verify

ROWS, BLOCK_ROWS = 4 * 384, 384


class Stopped(Exception):
    """Raised where a computation is to be left."""


class Sound(ABC):
    """Sound files of one kind, of which one bit at a time is flipped."""

    name: ClassVar[str]

    def __init__(self, home: Path) -> None:
        self.home = home
        self.whole = home / "whole"

    @abstractmethod
    def files(self) -> list[Path]:
        """The files to be damaged."""

    @abstractmethod
    def complaints(self) -> list[str]:
        """What simlab's own checks say of the files now; nothing where they are sound."""

    @abstractmethod
    def by_commands(self, path: Path) -> str | None:
        """Let real commands find the damage of a file, and mend it; returns what went wrong."""

    def flip(self, chance: random.Random) -> tuple[Path, int]:
        """Change one bit of one file; returns both."""
        path = chance.choice(self.files())
        return path, flip(path, chance)


def outcome(arguments: list[str], code: int, *words: str) -> str | None:
    """Run a command: None if it ended with this code and said these words, otherwise what it did."""
    ended, said = Command(arguments).ended()
    if ended == code and all(word in said for word in words):
        return None
    return f"simlab {' '.join(arguments)}: exit code {ended} instead of {code}: {said or 'nothing said'}"


def difference(path: Path, whole: Path) -> str | None:
    """How the datasets of a file differ from those of the sound one; None where they are the same."""
    try:
        same_datasets(path, whole)
    except Violation as violation:
        return str(violation)
    return None


class Segments(Sound):
    """An unfinished run: segments, merged ones among them, with checkpoints."""

    name = "segments"

    def __init__(self, home: Path, quick: bool) -> None:
        super().__init__(home)
        spec = home / "spec.toml"
        spec.write_text(SPEC.format(steps=20_000 if quick else 200_000), encoding="utf-8")
        self.run = home / "run"
        unfinished(spec, self.run, 2 if quick else 4, merged=not quick)
        shutil.copytree(self.run, self.whole)
        alone(["resume", str(self.whole), "-q"])

    def files(self) -> list[Path]:
        return sorted((self.run / "segments").glob("*.h5"))

    def complaints(self) -> list[str]:
        return verify.verify_run(self.run)

    def by_commands(self, path: Path) -> str | None:
        copy = self.home / "copy"
        shutil.copytree(self.run, copy)
        try:
            return (
                outcome(["collate", str(copy), "-q"], 2, path.name)
                or outcome(["resume", str(copy), "-q"], 2, path.name, "--repair")
                or outcome(["resume", str(copy), "--repair", "-q"], 0)
                or difference(copy / "results.h5", self.whole / "results.h5")
            )
        finally:
            shutil.rmtree(copy)


class Results(Sound):
    """results.h5 of a finished run."""

    name = "results"

    def __init__(self, home: Path, finished: Path) -> None:
        super().__init__(home)
        self.run = home / "run"
        shutil.copytree(finished, self.run)
        shutil.copytree(finished, self.whole)
        self.values = datasets(self.whole / "results.h5")
        self.read_otherwise = 0  # flips after which h5py, without simlab, reads other numbers

    def files(self) -> list[Path]:
        return [self.run / "results.h5"]

    def complaints(self) -> list[str]:
        return verify.verify_run(self.run)

    def flip(self, chance: random.Random) -> tuple[Path, int]:
        found = super().flip(chance)
        try:
            with h5py.File(found[0]) as file:
                same = all(content(np.asarray(file[name][()])) == content(x) for name, x in self.values.items())
            self.read_otherwise += not same
        except (OSError, RuntimeError, KeyError, ValueError, TypeError):  # HDF5 tells damage in any of them
            pass
        return found

    def by_commands(self, path: Path) -> str | None:
        return outcome(["resume", str(self.run)], 0, path.name, "written again") or difference(
            path, self.whole / "results.h5"
        )


class Stores(Sound):
    """A finished Gram file, or an unfinished one with its journal."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.inputs = home / "X.npy"
        np.save(self.inputs, np.random.default_rng(3).standard_normal((ROWS, 40)))
        self.path = home / "K.h5"

    def command(self, *more: str) -> list[str]:
        return ["gram", "ntk", str(self.inputs), "--depth", "3", "--float32", "--memory", "424MB",
                "--commit-seconds", "0", "-o", str(self.path), *more]  # fmt: skip

    def compute(self, **options: Any) -> None:
        """What the command does."""
        from simlab.kernels import ntk

        X = np.load(self.inputs, mmap_mode="r")
        limits = Limits(memory=424_000_000, commit_seconds=0.0)
        gram_file({"ntk_3": ntk(3)}, X, self.path, dtype="float32", limits=limits, **options)

    def by_commands(self, path: Path) -> str | None:
        return (
            outcome(self.command("-q"), 2, path.name, "--repair")
            or outcome(self.command("-q", "--repair"), 0)
            or difference(self.path, self.whole)
        )


class FinishedStore(Stores):
    name = "stores"

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.compute()
        shutil.copy2(self.path, self.whole)

    def files(self) -> list[Path]:
        return [self.path]

    def complaints(self) -> list[str]:
        return stored.verify_gram(self.path)


class UnfinishedStore(Stores):
    """Left when half of its ten blocks were committed; the bytes of the others mean nothing and are not flipped."""

    name = "unfinished stores"

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.compute()
        self.path.rename(self.whole)
        self.part, self.journal = home / "K.h5.part", home / "K.h5.part.json"

        def stop(done: int, total: int, before: int) -> None:
            if done > total / 2:
                raise Stopped

        with contextlib.suppress(Stopped):
            self.compute(listener=Listener(progress=stop))

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self.journal.read_text()) if self.journal.exists() else {}
        return state

    def files(self) -> list[Path]:
        return [self.part, self.journal]

    def flip(self, chance: random.Random) -> tuple[Path, int]:
        state = self._state()
        (offset,) = state["offsets"].values()
        starts = range(0, ROWS, BLOCK_ROWS)
        places = [(i, j) for i in starts for j in starts if j <= i]
        done = {places[number] for number, *_ in state["done"]}
        path = chance.choice(self.files())
        sound = path.read_bytes()
        while True:
            bit = flip(path, chance)
            row, column = divmod((bit // 8 - offset) // 4, ROWS)
            here = (row // BLOCK_ROWS * BLOCK_ROWS, column // BLOCK_ROWS * BLOCK_ROWS)
            inside = path == self.part and 0 <= row < ROWS
            if not inside or here in done or here[::-1] in done:
                return path, bit
            path.write_bytes(sound)

    def complaints(self) -> list[str]:
        """The refusal of the function behind the command; it is stopped where it would begin to compute."""

        def began(line: str) -> None:  # "going on, … blocks are there"
            raise Stopped

        try:
            self.compute(listener=Listener(say=began))
        except Stopped:
            return []
        except BadInput as error:
            return [str(error)]
        raise Violation("failing", f"{self.part}: was finished from its journal")


def hunt(kinds: list[Sound], flips: int, commands: int, seed: int) -> dict[str, Any]:
    """Flip, check, restore, check again; everything that was found."""
    found: dict[str, Any] = {"flips": 0, "found": 0, "sound_checks": 0, "false_alarms": 0, "by_commands": 0}
    each: dict[str, dict[str, int]] = {kind.name: {"flips": 0, "found": 0} for kind in kinds}
    wrong: list[dict[str, Any]] = []
    for number in range(flips):
        chance = random.Random(f"{seed} {number}")
        kind = kinds[number % len(kinds)]
        before = {path: path.read_bytes() for path in kind.home.rglob("*") if path.is_file()}
        path, bit = kind.flip(chance)
        complaints = [line for line in kind.complaints() if path.name in line]
        why = None if complaints else "no check named the file"
        if complaints and number < commands * len(kinds):
            found["by_commands"] += 1
            why = kind.by_commands(path)
        found["flips"] += 1
        each[kind.name]["flips"] += 1
        found["found"] += why is None
        each[kind.name]["found"] += why is None
        if why is not None:
            wrong.append({"kind": kind.name, "number": number, "file": str(path), "bit": bit, "what": why})
        for place in kind.home.rglob("*"):
            if place.is_file() and place not in before:  # set aside, or finished by a repair
                place.unlink()
        for place, sound in before.items():
            place.write_bytes(sound)
        found["sound_checks"] += 1
        if said := kind.complaints():
            found["false_alarms"] += 1
            wrong.append({"kind": kind.name, "number": number, "file": str(path), "bit": None, "what": said[0]})
        print(f"{number + 1:4d}  {kind.name}: {path.name}, bit {bit}", file=sys.stderr, flush=True)
    return {"seed": seed, **found, "kinds": each, "wrong": wrong}


def sound_files(home: Path, quick: bool) -> list[Sound]:
    """One of each kind, in directories of their own; segments, stores and results in equal shares."""
    places = {name: home / name for name in ("segments", "results", "finished", "unfinished")}
    for place in places.values():
        place.mkdir()
    segments = Segments(places["segments"], quick)
    results = Results(places["results"], segments.whole)
    finished, unfinished_ = FinishedStore(places["finished"]), UnfinishedStore(places["unfinished"])
    return [segments, finished, results, segments, unfinished_, results]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--commands", type=int, default=4, help="turns of six flips that go through real commands")
    parser.add_argument("--quick", action="store_true", help="a shorter sweep, without merged segments")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="simlab-flip-") as home:
        kinds = sound_files(Path(home), chosen.quick)
        found = hunt(kinds, chosen.flips, chosen.commands, chosen.seed)
        (results,) = {kind for kind in kinds if isinstance(kind, Results)}
        found["read_otherwise_by_h5py_alone"] = results.read_otherwise
    print(json.dumps(found, indent=1))
    if found["wrong"]:
        sys.exit(f"VIOLATION: {found['wrong'][0]['what']}")


if __name__ == "__main__":
    main()
