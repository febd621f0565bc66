"""Datasets and attributes of a segment: written with their checksums, which are checked whenever they are read.

HDF5's own metadata has checksums since version 1.10 of its format, but neither the data nor texts have.
Files of format 1 have no checksums: what is read of them is taken as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.record.checksum import CHECKSUM, of_array, of_text


class Mismatch(ValueError):
    """What was read is not what was written."""


def put(group: h5py.Group, name: str, values: Any) -> None:
    """Write a dataset; its checksum is that of the values in memory."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    dataset = group.create_dataset(name, data=values)
    mark(dataset, of_array(array))


def put_texts(group: h5py.Group, name: str, texts: list[list[str]]) -> None:
    """As the bytes of their JSON: HDF5's heap of texts has no checksum, and damage there can make it loop."""
    put(group, name, np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8))


def get_texts(dataset: h5py.Dataset, checked: bool) -> list[list[str]]:
    """What `put_texts` wrote."""
    values = get(dataset, checked)
    if not checked:  # format 1
        return [[text.decode() for text in row] for row in values.tolist()]
    found: list[list[str]] = json.loads(values.tobytes())
    return found


def mark(dataset: h5py.Dataset, checksum: str) -> None:
    """Write a checksum beside its dataset."""
    dataset.attrs[CHECKSUM] = np.bytes_(checksum)  # of fixed length: beside its dataset, where HDF5 has a checksum


def claimed(item: h5py.Dataset | h5py.Group) -> str:
    """The checksum that was written with a dataset, or with the attributes of a group."""
    found = attribute(item, CHECKSUM)
    if not isinstance(found, bytes):
        raise Mismatch(f"{item.name} has no checksum")
    return found.decode()


def get(dataset: h5py.Dataset, checked: bool) -> NDArray[Any]:
    """The values of a dataset, a scalar as a NumPy scalar; `checked`: with their checksum."""
    check_dataset(dataset)
    values: NDArray[Any] = dataset[()]
    if checked and of_array(np.asarray(values)) != claimed(dataset):
        raise Mismatch(f"the checksum of {dataset.name} differs")
    return values


def check_dataset(dataset: h5py.Dataset) -> None:
    """Refuse what simlab does not write: no dataset, one whose data lie elsewhere or are larger than the file."""
    if not isinstance(dataset, h5py.Dataset) or dataset.is_virtual or dataset.external:
        raise Mismatch(f"{getattr(dataset, 'name', None)} is not a dataset of this file")
    if h5py.check_string_dtype(dataset.dtype) is None and dataset.nbytes > dataset.file.id.get_filesize():
        raise Mismatch(f"{dataset.name} is larger than the file")


def members(group: h5py.Group, name: str | None = None) -> dict[str, Any]:
    """The members of a group, or of a group in it if there is one.

    h5py's `get`, `in`, `items` and `values` pass over what cannot be opened, as if it were not there.
    """
    if name is not None:
        return members(group[name]) if name in list(group) else {}
    return {key: group[key] for key in list(group)}


def attribute(item: h5py.Dataset | h5py.Group, name: str) -> Any:
    """An attribute, None where there is none."""
    return item.attrs[name] if name in list(item.attrs) else None


def put_attributes(group: h5py.Group, attributes: Mapping[str, int | str]) -> None:
    """Write attributes of a group, with one checksum for all."""
    # Texts of fixed length, too, lie where HDF5 has a checksum.
    for name, value in attributes.items():
        group.attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value
    group.attrs[CHECKSUM] = np.bytes_(_of_attributes(attributes))


def get_attributes(group: h5py.Group, kinds: Mapping[str, type], checked: bool) -> dict[str, Any]:
    """The attributes of the names and types in `kinds` (int: not negative; str)."""
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        value = group.attrs[name]
        if kind is int and (not isinstance(value, int | np.integer) or value < 0):
            raise Mismatch(f"{name} of {group.name} is no count")
        if isinstance(value, bytes):
            value = value.decode()
        if kind is str and not isinstance(value, str):
            raise Mismatch(f"{name} of {group.name} is no text")
        found[name] = kind(value)
    if checked and _of_attributes(found) != claimed(group):
        raise Mismatch(f"the checksum of the attributes of {group.name} differs")
    return found


def _of_attributes(attributes: Mapping[str, int | str]) -> str:
    return of_text(json.dumps(dict(attributes), sort_keys=True))


def names(text: str) -> frozenset[str]:
    """A JSON list of texts."""
    values = json.loads(text)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise Mismatch("an attribute is no list of names")
    return frozenset(values)
