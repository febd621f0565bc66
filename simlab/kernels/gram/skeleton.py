"""The HDF5 file of a Gram store without its numbers: datasets that are allocated, contiguous and empty.

It follows from the journal alone, to the last byte. So the bytes outside the matrices can be made again where they are
damaged, and the blocks of a large file need not be computed again for a flipped bit in its header.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

import h5py

from simlab.kernels.gram import stored
from simlab.kernels.gram.journal import Journal
from simlab.record.checksum import of_file


def create(path: Path, journal: Journal) -> None:
    """Make the file, which must not be there, and note in the journal where the matrices lie."""
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_layout(h5py.h5d.CONTIGUOUS)
    layout.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    layout.set_obj_track_times(False)  # the same command writes the same bytes
    with h5py.File(path, "x", libver=("v110", "v110")) as file:  # "x": never through a link
        file.attrs.update({key: journal.identity[key] for key in ("dtype", "inputs", "code")})
        file.attrs[stored.CHECKSUMS_ATTRIBUTE] = stored.CHECKSUMS_VALUE
        for name, kernel in journal.identity["kernels"].items():
            space = h5py.h5s.create_simple((journal.n, journal.n))
            dataset = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(journal.dtype), space, layout)
            h5py.Dataset(dataset).attrs["kernel"] = kernel
            journal.offsets[name] = dataset.get_offset() or 0
    journal.size = path.stat().st_size
    journal.frame = of_file(path, skip=journal.extents())


def mend(part: Path, journal: Journal) -> bool:
    """Write the bytes outside the matrices again; False where this version of HDF5 would write others."""
    fresh = Journal(journal.identity, journal.n, journal.block)
    path = part.with_name(f"{part.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        create(path, fresh)  # it has holes for the matrices: hardly any disk
        if (fresh.offsets, fresh.size, fresh.frame) != (journal.offsets, journal.size, journal.frame):
            return False
        with path.open("rb") as source, stored.opened(part, write=True) as descriptor:
            at = 0
            for begin, end in [*journal.extents(), (journal.size, journal.size)]:
                source.seek(at)
                stored.write_all(descriptor, source.read(begin - at), at)
                at = end
            os.fsync(descriptor)
    except (OSError, RuntimeError):
        return False
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    return stored.frame_is_sound(part, journal)
