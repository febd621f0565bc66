"""Whether the files of a run are as they were written: every byte of every segment and of results.h5 is read."""

from __future__ import annotations

from pathlib import Path

from simlab.core.errors import BadInput
from simlab.record.checksum import check_seal
from simlab.record.index import Index
from simlab.record.segments import Segment


def verify_run(directory: str | Path) -> list[str]:
    """One line per damaged file of a run directory; none where all are sound."""
    directory = Path(directory)
    found = []
    for path in Index.files(directory / "segments"):
        try:
            Segment.read(path)
        except BadInput as error:
            found.append(str(error))
    results = directory / "results.h5"
    if results.exists():
        try:
            check_seal(results)
        except BadInput as error:
            found.append(str(error))
    return found
