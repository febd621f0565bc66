"""A damaged file is given to everything that reads it: each reader gives the sound data or one line."""

from __future__ import annotations

import os
import random
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from fuzzing import file_originals, file_readers
from fuzzing.file_damage import bytes_damaged, something_else
from fuzzing.file_readers import Reader
from fuzzing.hdf5_damage import objects_damaged
from fuzzing.judging import Judge, Verdict, Wrong

MAY_CHANGE = (".lock", ".collate")


class Group(NamedTuple):
    """Files that are damaged and read alike.

    weight: how often it is taken.
    files: pattern below the home of the originals.
    readers: what reads them, by name.
    """

    weight: float
    files: str
    readers: tuple[str, ...]


GROUPS = {
    "segments": Group(8, "run/segments/*.h5", ("index", "checkpoints", "verify", "status", "show", "collate")),
    "results": Group(6, "run/results.h5", ("results", "open", "attributes", "verify", "status", "show")),
    "spec": Group(1.5, "run/*.toml", ("spec", "status", "show")),
    "gram": Group(3, "gram/K.h5", ("verify_gram", "gram", "array")),
    "part": Group(3, "part/K.h5.part*", ("part",)),
    "data": Group(6, "data/*", ("array",)),
    "ledger": Group(1, "ledger/**/*.json", ("ledger",)),
}


def damaged(chance: random.Random, home: Path) -> tuple[str, Path, str, bool]:
    """Damage one file below `home`: its group, the file, what was done, and whether only its bytes were changed."""
    group = chance.choices(list(GROUPS), [g.weight for g in GROUPS.values()])[0]
    path = chance.choice(sorted(home.glob(GROUPS[group].files)))
    which = chance.random()
    if which < 0.06:
        what = something_else(chance, path, home / "decoy" / "precious")
        return group, path, what, not what.startswith("nothing")  # without its last segment a run is one commit younger
    if which < 0.4 and path.suffix in (".h5", ".part"):
        return group, path, objects_damaged(chance, path), False
    return group, path, bytes_damaged(chance, path), True


class Files:
    """Cases: one damaged file each, in a copy of the originals that always lies in the same place."""

    def __init__(self, seed: int, home: Path, judge: Judge) -> None:
        self.seed, self.judge = seed, judge
        self.originals, self.home = home / "originals", home / "home"
        for left in (self.originals, self.home):  # of a worker that died
            shutil.rmtree(left, ignore_errors=True)
        file_originals.make(self.originals)
        shutil.copytree(self.originals, self.home)
        self.sound = {(r, str(p)): file_readers.READERS[r].read(self.home, p) for r, p in self._all()}
        self._fresh()
        judge.base = Judge().base
        judge.memory_may_end = True

    def _all(self) -> list[tuple[str, Path]]:
        return [(r, p) for g in GROUPS.values() for p in sorted(self.home.glob(g.files)) for r in g.readers]

    def _fresh(self, *parts: str) -> None:
        for part in parts or file_originals.PARTS:
            shutil.rmtree(self.home / part)
            shutil.copytree(self.originals / part, self.home / part)

    def run(self, number: int) -> Verdict:
        group, path, what, as_bytes = damaged(random.Random(f"{self.seed} {number}"), self.home)
        about = f"{path.relative_to(self.home)}: {what}"
        whole = Verdict("accepted", about=about)
        for name in GROUPS[group].readers:
            reader = file_readers.READERS[name]
            verdict = self.judge(self._reading(name, reader, path, as_bytes))
            whole.seconds, whole.wall = max(whole.seconds, verdict.seconds), max(whole.wall, verdict.wall)
            whole.memory, whole.line = max(whole.memory, verdict.memory), max(whole.line, verdict.line)
            if verdict.is_violation:
                whole.outcome, whole.detail, whole.trace = f"{name}: {verdict.outcome}", verdict.detail, verdict.trace
                break
            if verdict.outcome == "refused":
                whole.outcome, whole.detail = "refused", verdict.detail
        self._fresh(path.relative_to(self.home).parts[0], "decoy")
        return whole

    def _reading(self, name: str, reader: Reader, path: Path, as_bytes: bool) -> Callable[[], None]:
        """Read, compare, and see that nothing was changed by reading."""

        def read() -> None:
            parts = (path.relative_to(self.home).parts[0], "decoy")
            before = snapshot(self.home, *parts)
            try:
                found = reader.read(self.home, path)
                if reader.strict and as_bytes and found != self.sound[name, str(path)]:
                    raise Wrong(f"{name} reads other data")
            finally:
                after = snapshot(self.home, *parts)
                changed = [k for k, v in before.items() if after.get(k) != v and k not in reader.writes]
                if changed:
                    raise Wrong(
                        f"{name} changed {Path(changed[0]).name if 'segments' not in changed[0] else 'a segment'}"
                    )

        return read


def snapshot(home: Path, *parts: str) -> dict[str, str]:
    """Every file below these parts of `home`, by its content; links and other things by what they are."""
    found = {}
    for part in parts:
        for directory, names, files in os.walk(home / part):
            for name in [*files, *(n for n in names if os.path.islink(os.path.join(directory, n)))]:
                path = os.path.join(directory, name)
                mode = os.lstat(path).st_mode
                if name.endswith(MAY_CHANGE):
                    continue
                what = os.readlink(path) if stat.S_ISLNK(mode) else ""
                if stat.S_ISREG(mode):
                    what = xxhash.xxh3_64_hexdigest(Path(path).read_bytes())
                found[os.path.relpath(path, home)] = f"{stat.S_IFMT(mode)} {what}"
    return found


def describe(seed: int, number: int) -> dict[str, Any]:
    """What a case is, for people."""
    return {}
