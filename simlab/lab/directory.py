"""A run directory: spec.toml (resolved, hashed), given.toml (the spec as the user gave it), segments/, results.h5.

damaged/ holds what `simlab resume --repair` set aside. A lock is held while a process works in the directory.

What is a link is never written through: a rename puts a file in place of the link. segments/ and the locks, in which
files are made and removed, must be the directory's own.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from simlab.core.errors import BadInput, SimlabError, first_few
from simlab.core.formats import FIGURE_FORMATS
from simlab.lab.differences import differences
from simlab.lab.spec import Spec, read_back
from simlab.lab.tables import Given, read_file, read_text
from simlab.record import atomic
from simlab.record.atomic import committing, fsync_directory, unlink_file
from simlab.record.checksum import check_seal
from simlab.record.index import Index
from simlab.record.reader import Results
from simlab.record.schema import SEGMENTS

HEAD = "# Resolved by simlab; the run's segments belong to this text. sha256 {hash}\n"
FIGURES = tuple(f"figure.{suffix}" for suffix in FIGURE_FORMATS)
OWN = ("spec.toml", "given.toml", "segments", "results.h5", "damaged", *FIGURES, ".lock", ".collate")
LOCK_SECONDS = 0.5  # `status` holds the lock for an instant
WRITTEN = "|".join(map(re.escape, ("spec.toml", "given.toml", "results.h5", *FIGURES)))
HALF_WRITTEN = re.compile(f"({WRITTEN})" + atomic.HALF_WRITTEN)
ResultsState = Literal["missing", "damaged", "stale", "sound"]
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
        self.damaged = self.path / "damaged"
        self.work_lock = self.path / ".lock"
        self.collate_lock = self.path / ".collate"

    @property
    def exists(self) -> bool:
        """Whether a run was begun here."""
        return self.spec_path.exists()

    def read_spec(self, *, computes: bool = True) -> Spec:
        """The spec of the run; an edited one is refused, as its segments would no longer belong to it.

        computes: whether points will be computed; without, it is read faster.
        """
        with self.usable():
            if not self.exists:
                raise BadInput(f"{self.path}: not a run directory (no spec.toml)")
            tables, text = read_file(self.spec_path, most_bytes=MOST_BYTES)
            written = _hash_in(text)
            spec = read_back(tables, written, self._read_given(), computes=computes)
            if written != spec.hash:
                raise BadInput(
                    f"{self.spec_path}: not as simlab wrote it (edited?); restore it, or run into a new directory"
                )
            return spec

    def _read_given(self) -> Given | None:
        """The spec as the user gave it; older runs have none; no number depends on it."""
        try:
            return Given.parse(read_text(self.given_path, MOST_BYTES))
        except (BadInput, OSError, ValueError):
            return None

    def _written_hash(self) -> str | None:
        with open(self.spec_path, encoding="utf-8", errors="replace") as file:
            return _hash_in(file.readline(1000))

    def index(self, spec: Spec) -> Index:
        """What is committed of the run."""
        return Index.read(self.segments, spec.hash, spec.sweep.points)

    def check(self, spec: Spec, overwrite: bool, repair: bool = False) -> None:
        """Refuse a directory that holds something else, before anything is written.

        repair: damaged segments are dealt with later.
        """
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path}: is a file; give a directory")
        held = sorted(p.name for p in self.path.iterdir()) if self.path.exists() else []
        foreign = [name for name in held if name not in OWN and not HALF_WRITTEN.fullmatch(name)]
        if not self.exists and foreign:
            raise BadInput(f"{self.path}: not empty and not a run directory (holds {foreign[0]}); give a new one")
        if self.exists and self._written_hash() is None:
            raise BadInput(f"{self.spec_path}: not written by simlab, and not overwritten; give another directory")
        files = Index.files(self.segments)  # what is not ours is not deleted
        if overwrite:
            return
        if self.exists:
            changed = differences(self.read_spec(computes=False), spec)
            if changed:
                raise BadInput(
                    f"{self.path}: holds a run of another spec ({first_few(changed)});"
                    " use a new directory or --overwrite"
                )
        if files and not repair:
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
        lock = FileLock(self.work_lock)
        with self.usable():
            refuse_link(self.work_lock)
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
            if not self.work_lock.exists() or self.work_lock.is_symlink():
                return False
            with FileLock(self.work_lock, timeout=0):
                return False
        except Timeout:
            return True
        except OSError:  # a directory that cannot be written is not being written
            return False

    def is_collated(self, spec: Spec) -> bool:
        """Whether results.h5 is whole and was made from just the segments that are there now."""
        try:
            return self.results_state(spec, self.index(spec)) == "sound"
        except (OSError, SimlabError):
            return False

    def results_state(self, spec: Spec, index: Index, whole: bool = True) -> ResultsState:
        """What results.h5 is worth.

        missing: there is none.
        damaged: it cannot be read, or is not as it was written.
        stale: it was made from another spec or other segments than there are now, or by an earlier version of simlab.
        sound: anything else.

        whole: read every byte of it.
        """
        if not self.results.exists():
            return "missing"
        try:
            about = Results(self.results).attrs
            made_from = [tuple(one) for one in json.loads(about[SEGMENTS])] if SEGMENTS in about else None
            if made_from is not None and whole:
                check_seal(self.results)
        except (OSError, SimlabError, ValueError, TypeError):
            return "damaged"
        current = about.get("spec_hash") == spec.hash and made_from == index.contents()
        return "sound" if current else "stale"

    def begin(self, spec: Spec, overwrite: bool) -> None:
        """Make the directory ready (the lock is held): old results gone if asked, the spec in place."""
        if overwrite:
            figures = [self.path / name for name in FIGURES]
            for path in Index.files(self.segments):
                unlink_file(path)
            for path in [self.results, *figures, self.given_path]:
                path.unlink(missing_ok=True)  # of a link the link, not what it leads to
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
        with contextlib.suppress(FileNotFoundError):  # the directory was deleted meanwhile
            mine = [p for p in self.path.iterdir() if HALF_WRITTEN.fullmatch(p.name)]
            for path in [*(p for p in mine if not p.name.startswith("results")), *Index.half_written(self.segments)]:
                unlink_file(path)
        self.tidy_results()

    def tidy_results(self) -> None:
        """Remove half-written results, unless somebody is writing them."""
        if self.collate_lock.is_symlink() or not self.path.exists():
            return
        with contextlib.suppress(Timeout, OSError), FileLock(self.collate_lock, timeout=0):
            for path in self.path.iterdir():
                if HALF_WRITTEN.fullmatch(path.name) and path.name.startswith("results.h5"):
                    unlink_file(path)


def refuse_link(path: Path) -> None:
    """A lock is opened for writing: never what a link leads to."""
    if path.is_symlink():
        raise BadInput(f"{path}: is a link, and is not written through; remove it to go on")
