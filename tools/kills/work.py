"""What a kind of work must offer, and how files are compared."""

from __future__ import annotations

import random
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np
from numpy.typing import NDArray

from kills.process import Command, Violation
from simlab.lab.directory import RunDirectory
from simlab.record.verify import verify_run

READ_ATTEMPTS = 20
IN_USE = "another"  # a word of the error with which a second process on the same files is refused


class Work(ABC):
    """One kind of work: how it is started again and again, and what must be true of its files.

    home: directory for the uninterrupted work and the killed one.
    workers: most worker processes.
    steps: length of a sweep's points.
    """

    name: ClassVar[str]
    compared: ClassVar[str]
    """What must be bit for bit that of the uninterrupted work."""

    def __init__(self, home: Path, workers: int, steps: int) -> None:
        self.home, self.workers, self.steps = home, workers, steps
        self.place = home / f"{self.name}_killed"
        self.reference = home / f"{self.name}_alone"
        self.facts: dict[str, Any] = {"sound_checks": 0}
        self.life_seconds = 5.0  # that a process takes from nothing to the end

    @abstractmethod
    def prepare(self) -> None:
        """Do the work uninterrupted, into `reference`."""

    @abstractmethod
    def begin(self, chance: random.Random) -> None:
        """Make `place` ready for another round."""

    @abstractmethod
    def command(self, chance: random.Random) -> list[str]:
        """The arguments of the process to start next."""

    @abstractmethod
    def check(self) -> int:
        """After every kill: nothing committed is gone (else a Violation). Returns how much is committed."""

    @abstractmethod
    def compare(self) -> int:
        """Once the work is done: everything equals `reference`. Returns how many things were compared."""

    def second_command(self, chance: random.Random) -> list[str] | None:
        """The arguments of a second process, to run at the same time as the first; None for no such process."""
        return None

    def look(self) -> None:  # noqa: B027
        """While a process runs: what can be read is right."""

    def writing(self) -> bool:
        """Whether some file with numbers or a figure is half-written at this instant."""
        return any(not path.name.startswith(("spec.toml", "given.toml")) for path in self.place.rglob("*.tmp"))

    def accepts(self, arguments: list[str], code: int, said: str, has_second: bool) -> bool:
        """Whether a process that was not killed may end so; `has_second`: it was not alone."""
        return code == 0 or (code == 2 and has_second and IN_USE in said)

    def sound(self, directory: Path) -> None:
        """No file of a run is called damaged: after kills that would be a false alarm."""
        self.facts["sound_checks"] += 1
        for _ in range(READ_ATTEMPTS):
            try:
                if lines := verify_run(directory):
                    raise Violation("failing", f"called damaged after a kill: {lines[0]}")
                return
            except FileNotFoundError:  # an orphan merged it away meanwhile
                continue

    def clear(self) -> None:
        """Remove `place`; an orphan of a killed parent may still be writing there for a moment."""
        for _ in range(100):
            shutil.rmtree(self.place, ignore_errors=True)
            if not self.place.exists():
                return
            time.sleep(0.1)
        raise Violation("failing", f"{self.place}: somebody writes there 10 s after the work was done")


def committed(directory: Path) -> dict[int, int]:
    """Point → committed records of a run; a finished point counts one more."""
    run = RunDirectory(directory)
    if not run.exists:
        return {}
    spec = run.read_spec()
    index = run.index(spec)
    index.check_rows(spec.sweep.points)
    found = {point: at.reached.records for point, at in index.checkpoints.items()}
    return found | {point: length + 1 for point, length in index.finished.items()}


def none_lost(before: Mapping[int, int], now: Mapping[int, int], where: Path) -> None:
    lost = [point for point, records in before.items() if now.get(point, 0) < records]
    if lost:
        raise Violation("lost", f"{where}: records of points {lost} were committed and are gone")


def datasets(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays at the root of an HDF5 file."""
    try:
        with h5py.File(path) as file:
            return {name: np.asarray(item[()]) for name, item in file.items() if isinstance(item, h5py.Dataset)}
    except OSError as error:
        raise Violation("differing", f"{path}: cannot be read: {error}") from error


def content(values: NDArray[Any]) -> Any:
    """What is equal for two arrays of one type and shape just if every bit is; of texts their list."""
    return values.tolist() if values.dtype == object else values.tobytes()


def same_datasets(a: Path, b: Path) -> int:
    """Compare every dataset bit for bit; returns how many there are."""
    one, two = datasets(a), datasets(b)
    if one.keys() != two.keys():
        raise Violation("differing", f"{a}: holds other datasets than {b}: {sorted(one.keys() ^ two.keys())}")
    for name, x in one.items():
        y = two[name]
        if x.dtype != y.dtype or x.shape != y.shape or content(x) != content(y):
            raise Violation("differing", f"{a}: {name} differs from the uninterrupted work")
    return len(one)


def agrees_so_far(results: Path, whole: Mapping[str, NDArray[Any]]) -> None:
    """Every value in the results of an unfinished run is that of the whole run."""
    for name, x in datasets(results).items():
        y = whole[name][tuple(slice(0, size) for size in x.shape)]
        if name in ("status", "length"):
            good = bool((x <= y).all())
        elif x.dtype.kind == "f":
            good = np.where(np.isnan(x), 0.0, x).tobytes() == np.where(np.isnan(x), 0.0, y).tobytes()
        else:
            good = bool((x == y).all()) if x.dtype.kind != "i" else bool(((x == y) | (x == -1)).all())
        if not good:
            raise Violation("differing", f"{results}: {name} of an unfinished run differs from the finished one")


def same_bytes(a: Path, b: Path) -> int:
    if not a.exists() or a.read_bytes() != b.read_bytes():
        raise Violation("differing", f"{a}: {'differs from' if a.exists() else 'is not there, unlike'} {b}")
    return 1


def alone(arguments: list[str]) -> float:
    """Run a command to its end; it must succeed. Returns its seconds."""
    began = time.monotonic()
    code, said = Command(arguments).ended()
    if code != 0:
        raise Violation("failing", f"simlab {' '.join(arguments)}: exit code {code}: {said}")
    return time.monotonic() - began
