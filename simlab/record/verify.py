"""Whether the files of a run are as they were written: every byte of every segment and of results.h5 is read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from simlab.core.errors import BadInput
from simlab.record.checksum import check_seal
from simlab.record.index import Index, replaced_by
from simlab.record.reader import Results
from simlab.record.schema import SEGMENTS
from simlab.record.segments import Segment


def verify_run(directory: str | Path) -> list[str]:
    """One line per damaged file of a run directory; none where all are sound.

    Files of earlier versions, which have no checksums, are only read as far as their index goes.
    """
    directory = Path(directory)
    found: list[str] = []
    segments: list[Segment] = []
    with _collecting_errors(found):
        for path in Index.files(directory / "segments"):
            with _collecting_errors(found):
                segment = Segment.read(path)
                segment.check_whole(again=True)
                segments.append(segment)
    with _collecting_errors(found):
        replaced_by(segments)
    for segment in segments:
        if segment.spec_hash != segments[0].spec_hash:
            found.append(f"{segment.path}: belongs to a run of another spec")
    results = directory / "results.h5"
    if results.exists():
        with _collecting_errors(found):
            if SEGMENTS in Results(results).attrs:
                check_seal(results)
    return found


@contextlib.contextmanager
def _collecting_errors(found: list[str]) -> Iterator[None]:
    try:
        yield
    except BadInput as error:
        found.append(str(error))
