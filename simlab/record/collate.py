"""Segments → results.h5.

Datasets and dimension scales lie at the root, so that ``xarray.open_dataset`` shows named dimensions; ``/entry/data``
links to them as NXdata, so that H5Web plots them. The shape of a dataset is (axes of the sweep, record, own
dimensions); NaN (floats) or -1 (integers, with ``_FillValue``) stands where a point has no value. ``step`` and ``time``
are coordinates of the other trajectories. Chunked, gzip-4 + shuffle + fletcher32: HDF5 refuses a damaged chunk, whoever
reads it. Texts and single numbers, which fletcher32 does not cover, have the attribute ``checksum``; the whole file has
a seal behind its end (`simlab.record.checksum`); the attribute ``segments`` names what it was made from.
No dataset holds a wall-clock value: the same spec gives the same datasets bit for bit.

Memory stays below a few SLAB_BYTES whatever the size of the results.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.record.atomic import committing_hdf5
from simlab.record.checksum import CHECKSUM, of_array, of_text
from simlab.record.index import Index, Status
from simlab.record.schema import (
    CHECKSUMS,
    COORDINATES,
    MISSING,
    RECORD,
    RESULTS_SCHEMA,
    SEGMENTS,
    Output,
    fill_value,
    flags,
)
from simlab.record.segments import Segment, Table, damaged, reading

SLAB_BYTES = 1 << 28  # of a piece that is in memory at a time
CHUNK_BYTES = 1 << 20  # of what HDF5 compresses as one


@dataclass(frozen=True)
class Dimension:
    """One dimension of a sweep.

    name: its name, which is also its first coordinate.
    size: number of values.
    coords: name → values of every coordinate along it.
    """

    name: str
    size: int
    coords: Mapping[str, Sequence[Any]]


def collate(
    path: Path,
    index: Index,
    dimensions: Sequence[Dimension],
    outputs: Mapping[str, Output],
    attributes: Mapping[str, Any],
) -> None:
    """Write `path` anew from the committed segments, every byte of which is checked, in one rename."""
    index.check_whole()
    sizes = tuple(dimension.size for dimension in dimensions)
    points = math.prod(sizes)
    lengths, status = index.lengths(points), index.status(points)
    # Object headers of HDF5 1.10 hold attributes beyond 64 kB: a long sweep's spec is one.
    with committing_hdf5(path, sealed=True, libver=("v110", "v110")) as file:
        made_from = json.dumps(index.contents())
        about = {"simlab_results": RESULTS_SCHEMA, "default": "entry", **attributes, SEGMENTS: made_from}
        file.attrs.update(about)
        file.attrs[CHECKSUMS] = json.dumps({key: of_text(text) for key, text in about.items() if isinstance(text, str)})
        axes = tuple(dimension.name for dimension in dimensions)
        for dimension in dimensions:
            _write_coords(file, dimension)
        zipped = [name for d in dimensions for name in list(d.coords)[1:]]
        along = [name for name in COORDINATES if name in outputs and outputs[name].dims == (RECORD,)]

        def new(name: str, dims: tuple[str, ...], shape: tuple[int, ...], dtype: Any, text: Mapping[str, Any]) -> Any:
            dataset = _create(file, name, shape, dtype)
            for axis, dim in enumerate(dims):
                dataset.dims[axis].attach_scale(file[dim])
            dataset.attrs.update(text)
            if coords := [*zipped, *(along if RECORD in dims and name not in along else ())]:
                dataset.attrs["coordinates"] = " ".join(coords)
            return dataset

        inner_sizes = _inner_sizes(index, outputs)
        _write_scales(file, outputs, inner_sizes, int(lengths.max(initial=0)))
        for name, output in outputs.items():
            dtype = np.dtype(output.dtype)
            shape = (*sizes, *(len(file[dim]) for dim in output.dims))
            dataset = new(name, (*axes, *output.dims), shape, dtype, output.attributes())
            rows = _Rows(index, name, output.is_trajectory, lengths)
            missing, values = 0, np.empty(0)
            for slab in _slabs(sizes, shape[len(sizes) :], dtype.itemsize, output.is_trajectory):
                values = rows.values(slab, dtype).reshape(slab.shape)
                dataset[slab.selection] = values
                missing += int(np.count_nonzero(values == fill_value(dtype)))
            _mark(dataset, values)
            if dtype.kind == "i":
                dataset.attrs.update({"_FillValue": dtype.type(fill_value(dtype)), MISSING: missing})
        codes = {mark.value: mark.name.lower() for mark in Status}
        about_status = Output("how far the point is", dtype=status.dtype.name, codes=codes)
        _fill(new("status", axes, sizes, status.dtype, about_status.attributes()), status)
        about_length = Output("number of records of the point")
        _fill(new("length", axes, sizes, lengths.dtype, about_length.attributes()), lengths)
        if index.failed:
            texts = np.full(points, "", dtype=object)
            for point, failure in index.failed.items():
                texts[point] = failure.error
            text = Output("error of a failed point").attributes()
            _fill(new("error", axes, sizes, h5py.string_dtype(), text), texts)
        _link_nexus(file, outputs, axes)


def _create(file: h5py.File, name: str, shape: tuple[int, ...], dtype: Any) -> h5py.Dataset:
    if name in file:
        raise BadInput(f"{name}: recorded name used twice (an output and an axis or dimension of one name)")
    if not shape or 0 in shape:
        return file.create_dataset(name, shape=shape, dtype=dtype)
    dtype = np.dtype(dtype)
    chunks, left = [], max(1, CHUNK_BYTES // dtype.itemsize)
    for size in reversed(shape):
        chunks.append(min(size, left))
        left = max(1, left // size)
    return file.create_dataset(
        name,
        shape=shape,
        dtype=dtype,
        chunks=tuple(reversed(chunks)),
        compression="gzip",
        compression_opts=4,
        shuffle=True,
        fletcher32=h5py.check_string_dtype(dtype) is None,  # HDF5 has it for numbers only
    )


def _fill(dataset: h5py.Dataset, values: NDArray[Any]) -> None:
    dataset[...] = values.reshape(dataset.shape)
    _mark(dataset, values)


def _mark(dataset: h5py.Dataset, values: NDArray[Any]) -> None:
    """The checksum of texts and of single numbers; fletcher32 covers the others."""
    if h5py.check_string_dtype(dataset.dtype) or dataset.shape == ():
        dataset.attrs[CHECKSUM] = of_array(values.reshape(dataset.shape))


def _write_coords(file: h5py.File, dimension: Dimension) -> None:
    for position, (name, values) in enumerate(dimension.coords.items()):
        array = np.array(values)
        if array.dtype.kind in "US" or array.dtype == object:
            texts = np.array([str(value) for value in values], dtype=object)
            _fill(_create(file, name, texts.shape, h5py.string_dtype()), texts)
        else:
            numbers = array.astype(np.int8) if array.dtype == bool else array
            _fill(_create(file, name, numbers.shape, numbers.dtype), numbers)
            if array.dtype == bool:
                file[name].attrs.update(flags({0: "false", 1: "true"}, np.dtype(np.int8)))
        file[name].attrs.update({"long_name": name, "description": "axis of the sweep"})
        if position == 0:
            file[name].make_scale(name)
        else:
            file[name].dims[0].attach_scale(file[dimension.name])


def _inner_sizes(index: Index, outputs: Mapping[str, Output]) -> dict[str, int]:
    """The largest size that any row has along each dimension; shorter ones are padded."""
    sizes: dict[str, int] = {}
    for segment in index.segments:
        for table in segment.tables:
            for name, _, shape in table.signature:
                if name in outputs:
                    inner = outputs[name].inner
                    if len(shape) != len(inner):
                        raise damaged(segment.path, f"{name} has {len(shape)} dimensions, not {len(inner)}")
                    for dim, size in zip(inner, shape, strict=True):
                        sizes[dim] = max(sizes.get(dim, 0), size)
    return sizes


def _write_scales(file: h5py.File, outputs: Mapping[str, Output], sizes: Mapping[str, int], records: int) -> None:
    coords: dict[str, NDArray[Any]] = {}
    for output in outputs.values():
        for dim in output.dims:
            known = np.arange(records) if dim == RECORD else output.coords.get(dim)
            values = np.arange(sizes.get(dim, 0)) if known is None else known
            if len(values) > len(coords.get(dim, ())) or dim not in coords:
                coords[dim] = values
    for dim, values in coords.items():
        if dim in file:
            raise BadInput(f"{dim}: an output's dimension has the name of an axis of the sweep")
        _fill(_create(file, dim, np.shape(values), np.asarray(values).dtype), np.asarray(values))
        file[dim].make_scale(dim)
        file[dim].attrs["long_name"] = "number of the record" if dim == RECORD else dim


@dataclass(frozen=True)
class _Slab:
    """A piece of a dataset.

    selection: index of the piece in the dataset.
    shape: shape of the piece there.
    points: first point, and the one behind the last.
    records: first record, and the one behind the last.
    row: shape of what one point has in it.
    """

    selection: tuple[Any, ...]
    shape: tuple[int, ...]
    points: tuple[int, int]
    records: tuple[int, int]
    row: tuple[int, ...]


def _slabs(sizes: tuple[int, ...], row: tuple[int, ...], itemsize: int, trajectory: bool) -> Iterator[_Slab]:
    """Cut a dataset of shape (*sizes, *row) into contiguous pieces of bounded size."""
    per_point = max(1, math.prod(row)) * itemsize
    lead, points = len(sizes), 1
    while lead and points * sizes[lead - 1] * per_point <= SLAB_BYTES:
        lead -= 1
        points *= sizes[lead]
    records = row[0] if trajectory else 1
    split = trajectory and per_point > SLAB_BYTES
    step = max(1, SLAB_BYTES // (per_point // records)) if split else max(1, records)
    for number, position in enumerate(np.ndindex(sizes[:lead])):
        span = (number * points, (number + 1) * points)
        for start in range(0, records, step):
            stop = min(start + step, records)
            part = (stop - start, *row[1:]) if trajectory else row
            selection = (*position, slice(start, stop)) if split else position
            yield _Slab(selection, (*sizes[lead:], *part), span, (start, stop), part)


class _Rows:
    """The rows of one recorded name, wherever they lie."""

    def __init__(self, index: Index, name: str, trajectory: bool, lengths: NDArray[np.int64]) -> None:
        self.name = name
        self.trajectory = trajectory
        self.lengths = lengths
        # Written last wins below: the first segment by name comes last.
        self.tables = [
            (segment, table)
            for segment in reversed(index.segments)
            for table in segment.tables
            if any(column == name for column, _, _ in table.signature)
        ]

    def values(self, slab: _Slab, dtype: np.dtype[Any]) -> NDArray[Any]:
        """(points, *row) the values of a slab, fill values where there is none."""
        values = np.full((slab.points[1] - slab.points[0], *slab.row), fill_value(dtype), dtype=dtype)
        rows = values if self.trajectory else values[:, np.newaxis]  # given once: a single record
        for segment, table in self.tables:
            self._scatter(rows, segment, table, slab.points, slab.records)
        return values

    def _scatter(
        self,
        values: NDArray[Any],
        segment: Segment,
        table: Table,
        points: tuple[int, int],
        records: tuple[int, int],
    ) -> None:
        point, first, count = table.blocks.T
        limit = self.lengths[point] if self.trajectory else np.ones_like(point)
        first = np.maximum(first, 0)
        begin = np.maximum(first, records[0])
        end = np.minimum(first + count, np.minimum(limit, records[1]))
        chosen = np.flatnonzero((point >= points[0]) & (point < points[1]) & (end > begin))
        if not len(chosen):
            return
        source = table.offsets + begin - first
        with reading(segment.path), h5py.File(segment.path) as file:
            column = file[f"{table.group}/columns/{self.name}"]
            inner = tuple(slice(0, size) for size in column.shape[1:])
            row_bytes = max(1, column.dtype.itemsize * math.prod(column.shape[1:]))
            for group in _near(chosen, source, end - begin, max(1, SLAB_BYTES // row_bytes)):
                low, last = int(source[group[0]]), group[-1]
                rows = column[low : int(source[last] + end[last] - begin[last])]
                for i in group:
                    at, rows_here = int(source[i]) - low, int(end[i] - begin[i])
                    to = int(begin[i]) - records[0]
                    where: Any = (int(point[i]) - points[0], slice(to, to + rows_here), *inner)
                    values[where] = rows[at : at + rows_here]


def _near(
    chosen: NDArray[np.int64], source: NDArray[np.int64], count: NDArray[np.int64], most: int
) -> Iterator[NDArray[np.int64]]:
    """Blocks in order, in groups that one read of at most `most` rows (or one block) serves."""
    start = 0
    for i in range(1, len(chosen) + 1):
        if i == len(chosen) or source[chosen[i]] + count[chosen[i]] - source[chosen[start]] > most:
            yield chosen[start:i]
            start = i


def _link_nexus(file: h5py.File, outputs: Mapping[str, Output], axes: tuple[str, ...]) -> None:
    entry = file.create_group("entry")
    entry.attrs.update({"NX_class": "NXentry", "default": "data"})
    data = entry.create_group("data")
    data.attrs["NX_class"] = "NXdata"
    for name, item in list(file.items()):
        if isinstance(item, h5py.Dataset):
            data[name] = h5py.SoftLink(f"/{name}")  # hard links would give the datasets two names
    trajectories = [n for n, o in outputs.items() if o.is_trajectory and n not in ("step", "time")]
    signal = next(iter([*trajectories, *outputs]), None)
    if signal:
        data.attrs["signal"] = signal
        data.attrs["axes"] = [*axes, *outputs[signal].dims]
