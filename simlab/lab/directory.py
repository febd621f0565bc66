"""A run directory: spec.toml (resolved, hashed), given.toml (the spec as the user gave it), segments/, results.h5.

A lock is held while a process works in it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from simlab.core.errors import BadInput, SimlabError, first_few
from simlab.core.formats import FIGURE_FORMATS
from simlab.lab.spec import Spec, differences, read_back
from simlab.lab.tables import Given, read_file
from simlab.record import atomic
from simlab.record.atomic import committing, fsync_directory
from simlab.record.index import Index
from simlab.record.reader import Results

HEAD = "# Resolved by simlab; the run's segments belong to this text. sha256 {hash}\n"
FIGURES = tuple(f"figure.{suffix}" for suffix in FIGURE_FORMATS)
OWN = ("spec.toml", "given.toml", "segments", "results.h5", *FIGURES, ".lock", ".collate")
LOCK_SECONDS = 0.5  # `status` holds the lock for an instant
WRITTEN = "|".join(map(re.escape, ("spec.toml", "given.toml", "results.h5", *FIGURES)))
HALF_WRITTEN = re.compile(f"({WRITTEN})" + atomic.HALF_WRITTEN)
MOST_BYTES = 1 << 30
"""Of a spec.toml, which lists every value of every axis."""


def _hash_in(text: str) -> str | None:
    """The hash in the first line of a spec.toml."""
    found = re.search(r"sha256 ([0-9a-f]{64})", text.partition("\n")[0])
    return found[1] if found else None


class RunDirectory:
    """The files of one run, wherever they lie."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.spec_path = self.path / "spec.toml"
        self.given_path = self.path / "given.toml"
        self.segments = self.path / "segments"
        self.results = self.path / "results.h5"
        self.collate_lock = self.path / ".collate"

    @property
    def exists(self) -> bool:
        return self.spec_path.exists()

    def read_spec(self) -> Spec:
        """The spec of the run; an edited one is refused, as its segments would no longer belong to it."""
        with self.usable():
            if not self.exists:
                raise BadInput(f"{self.path}: not a run directory (no spec.toml)")
            tables, text = read_file(self.spec_path, most_bytes=MOST_BYTES)
            written = _hash_in(text)
            spec = read_back(tables, written, self._read_given())
            if written != spec.hash:
                raise BadInput(
                    f"{self.spec_path}: not as simlab wrote it (edited?); restore it, or run into a new directory"
                )
            return spec

    def _read_given(self) -> Given | None:
        """The spec as the user gave it; older runs have none; no number depends on it."""
        try:
            return Given.parse(self.given_path.read_bytes().decode())
        except (FileNotFoundError, ValueError):
            return None

    def _written_hash(self) -> str | None:
        with open(self.spec_path, encoding="utf-8", errors="replace") as file:
            return _hash_in(file.readline(1000))

    def index(self, spec: Spec) -> Index:
        return Index.read(self.segments, spec.hash)

    def check(self, spec: Spec, overwrite: bool) -> None:
        """Refuse a directory that holds something else, before anything is written."""
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path}: is a file; give a directory")
        held = sorted(p.name for p in self.path.iterdir()) if self.path.exists() else []
        foreign = [name for name in held if name not in OWN and not HALF_WRITTEN.fullmatch(name)]
        if not self.exists and foreign:
            raise BadInput(f"{self.path}: not empty and not a run directory (holds {foreign[0]}); give a new one")
        if self.exists and self._written_hash() is None:
            raise BadInput(f"{self.spec_path}: not written by simlab, and not overwritten; give another directory")
        if overwrite:
            Index.files(self.segments)  # what is not ours is not deleted
            return
        if self.exists:
            changed = differences(self.read_spec(), spec)
            if changed:
                raise BadInput(
                    f"{self.path}: holds a run of another spec ({first_few(changed)});"
                    " use a new directory or --overwrite"
                )
        self.index(spec)

    @contextlib.contextmanager
    def usable(self) -> Iterator[None]:
        """Where the system refuses the directory, say so in one line."""
        try:
            yield
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be used as a run directory: {error.strerror or error}") from error

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the directory, or say that another process does."""
        lock = FileLock(self.path / ".lock")
        with self.usable():
            try:
                lock.acquire(timeout=LOCK_SECONDS)
            except Timeout:
                raise BadInput(f"{self.path}: in use by another simlab process") from None
        try:
            yield
        finally:
            lock.release()

    def in_use(self) -> bool:
        """Whether a process holds the directory now."""
        try:
            if not (self.path / ".lock").exists():
                return False
            with FileLock(self.path / ".lock", timeout=0):
                return False
        except Timeout:
            return True
        except OSError:  # a directory that cannot be written is not being written
            return False

    def is_collated(self, spec: Spec) -> bool:
        """Whether results.h5 belongs to this spec and is younger than every segment."""
        try:
            made = self.results.stat().st_mtime_ns
            hash_ = Results(self.results).attrs["spec_hash"]
        except (OSError, SimlabError, KeyError):
            return False
        return bool(hash_ == spec.hash) and all(path.stat().st_mtime_ns < made for path in Index.files(self.segments))

    def begin(self, spec: Spec, overwrite: bool) -> None:
        """Make the directory ready (the lock is held): old results gone if asked, the spec in place."""
        if overwrite:
            figures = [self.path / name for name in FIGURES]
            for path in [self.results, *figures, self.given_path, *Index.files(self.segments)]:
                path.unlink(missing_ok=True)
        self.segments.mkdir(exist_ok=True)
        if spec.given is not None and spec.given != self._read_given():
            with committing(self.given_path) as temporary:
                temporary.write_bytes(spec.given.dump().encode())
        text = HEAD.format(hash=spec.hash) + spec.text
        # Its date is when the run began: `simlab show` counts from there.
        if overwrite or not self.exists or self.spec_path.read_text(encoding="utf-8") != text:
            with committing(self.spec_path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        fsync_directory(self.path)

    def tidy(self) -> None:
        """Remove what a killed process left half-written (the lock is held)."""
        mine = [p for p in self.path.iterdir() if HALF_WRITTEN.fullmatch(p.name) and not p.name.startswith("results")]
        for path in [*mine, *Index.half_written(self.segments)]:
            path.unlink(missing_ok=True)
        self.tidy_results()

    def tidy_results(self) -> None:
        """Remove half-written results, unless somebody is writing them."""
        with contextlib.suppress(Timeout, OSError), FileLock(self.collate_lock, timeout=0):
            for path in self.path.iterdir():
                if HALF_WRITTEN.fullmatch(path.name) and path.name.startswith("results.h5"):
                    path.unlink(missing_ok=True)
