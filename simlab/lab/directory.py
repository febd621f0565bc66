"""A run directory: spec.toml (resolved, hashed), segments/, results.h5, and a lock while a process works in it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from simlab.core.errors import BadInput
from simlab.lab.spec import Spec, differences, read_tables, resolve
from simlab.record.atomic import committing, fsync_directory
from simlab.record.index import Index

HEAD = "# Resolved by simlab; the run's segments belong to this text. sha256 {hash}\n"
OWN = ("spec.toml", "segments", "results.h5", "figure.png", ".lock")


class RunDirectory:
    """The files of one run, wherever they lie."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.spec_path = self.path / "spec.toml"
        self.segments = self.path / "segments"
        self.results = self.path / "results.h5"
        self.figure = self.path / "figure.png"

    @property
    def exists(self) -> bool:
        return self.spec_path.exists()

    def read_spec(self) -> Spec:
        """The spec of the run; an edited one is refused, as its segments would no longer belong to it."""
        if not self.exists:
            raise BadInput(f"{self.path}: not a run directory (no spec.toml)")
        spec = resolve(read_tables(self.spec_path))
        found = re.search(r"sha256 ([0-9a-f]{64})", self.spec_path.read_text().partition("\n")[0])
        if not found or found[1] != spec.hash:
            raise BadInput(f"{self.spec_path}: was edited after the run began; restore it, or run into a new directory")
        return spec

    def index(self, spec: Spec) -> Index:
        return Index.read(self.segments, spec.hash)

    def check(self, spec: Spec, overwrite: bool) -> None:
        """Refuse a directory that holds something else, before anything is written."""
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path}: is a file; give a directory")
        foreign = sorted(p.name for p in self.path.iterdir() if p.name not in OWN) if self.path.exists() else []
        if not self.exists and foreign:
            raise BadInput(f"{self.path}: not empty and not a run directory (holds {foreign[0]}); give a new one")
        if self.exists and not overwrite:
            changed = differences(self.read_spec(), spec)
            if changed:
                shown = "; ".join(changed[:3]) + (f"; and {len(changed) - 3} more" if len(changed) > 3 else "")
                raise BadInput(
                    f"{self.path}: holds a run of another spec ({shown}); use a new directory or --overwrite"
                )

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the directory, or say that another process does."""
        lock = FileLock(self.path / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise BadInput(f"{self.path}: in use by another simlab process") from None
        try:
            yield
        finally:
            lock.release()

    def in_use(self) -> bool:
        """Whether a process holds the directory now."""
        if not (self.path / ".lock").exists():
            return False
        try:
            with self.lock():
                return False
        except BadInput:
            return True

    def begin(self, spec: Spec, overwrite: bool) -> None:
        """Make the directory ready (the lock is held): old results gone if asked, the spec in place."""
        if overwrite:
            for path in [self.results, self.figure, *self._segment_files()]:
                path.unlink(missing_ok=True)
        self.segments.mkdir(exist_ok=True)
        text = HEAD.format(hash=spec.hash) + spec.text
        if not self.exists or self.spec_path.read_text() != text:
            with committing(self.spec_path) as temporary:
                temporary.write_text(text)
        fsync_directory(self.path)

    def tidy(self) -> None:
        """Remove what a killed process left half-written (the lock is held)."""
        for path in [*self.path.glob("*.tmp"), *self.segments.glob("*.tmp")]:
            path.unlink(missing_ok=True)

    def _segment_files(self) -> list[Path]:
        return list(self.segments.glob("*.h5")) + list(self.segments.glob("*.tmp"))
