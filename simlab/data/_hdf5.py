"""One array of an HDF5 file, and of no other file.

A dataset may lie elsewhere: in raw files (external storage), behind an external link, or put together from other
files (virtual). Where such a source is missing HDF5 reads zeros without a word, and a file from a stranger could name
any file of the reader's. So these are refused; links inside the file are followed.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, shown
from simlab.data._limits import chosen, refuse_beyond_memory, refuse_unless_real

MOST_LINKS = 40
ONE_FILE = "copy the numbers into one file"


def read(path: Path, name: str) -> NDArray[Any]:
    """The dataset of this name; without a name, the only one."""
    with h5py.File(path, "r") as file:
        found = _followed(file, name, path) if name.strip("/") else None
        if found is None:
            names: list[str] = []
            file.visititems(lambda key, item: names.append(key) if isinstance(item, h5py.Dataset) else None)
            if not names:
                _refuse_links(file, path)
            found = file[chosen(name.strip("/"), names, path)]
        if not isinstance(found, h5py.Dataset):
            raise BadInput(f"{path}::{shown(name)}: is not a dataset")
        return _numbers(found, f"{path}::{found.name}")


def _numbers(dataset: h5py.Dataset, what: str) -> NDArray[Any]:
    if dataset.external:
        raise BadInput(f"{what}: lies in other files (external storage in {shown(dataset.external[0][0])}); {ONE_FILE}")
    if dataset.is_virtual:
        raise BadInput(f"{what}: is put together from other datasets (virtual); {ONE_FILE}")
    refuse_unless_real(dataset.dtype, what)
    if dataset.shape is None:
        raise BadInput(f"{what} is empty")
    refuse_beyond_memory(math.prod(dataset.shape) * dataset.dtype.itemsize, what)
    if dataset.chunks:  # unpacked as a whole
        refuse_beyond_memory(math.prod(dataset.chunks) * dataset.dtype.itemsize, f"{what}, one chunk")
    return np.asarray(dataset[()])


def _followed(file: h5py.File, name: str, path: Path) -> Any:
    """What a name leads to inside the file; None: nothing has this name. Never opens another file."""
    steps, at, links = name.split("/")[::-1], "/", 0
    while steps:
        step = steps.pop()
        if step in ("", "."):
            continue
        group = file[at]
        link = group.get(step, getlink=True) if isinstance(group, h5py.Group) and step in _names(group) else None
        if link is None:
            if links:
                raise BadInput(f"{path}::{shown(name)}: a link that leads nowhere ({shown(f'{at}/{step}')})")
            return None
        if isinstance(link, h5py.ExternalLink):
            raise BadInput(f"{path}::{shown(name)}: a link into another file, {shown(link.filename)}; {ONE_FILE}")
        if isinstance(link, h5py.SoftLink):
            links += 1
            if links > MOST_LINKS:
                raise BadInput(f"{path}::{shown(name)}: links that lead to each other")
            at = "/" if link.path.startswith("/") else at
            steps += link.path.split("/")[::-1]
        else:
            at = f"{at.rstrip('/')}/{step}"
    return file[at]


def _names(group: h5py.Group) -> set[str]:
    """Links of a group by their names alone: `in` would open what they lead to."""
    return set(group.keys())


def _refuse_links(file: h5py.File, path: Path) -> None:
    """A file without datasets of its own may hold links to them."""
    for name in file:
        link = file.get(name, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise BadInput(f"{path}::{name}: a link into another file, {shown(link.filename)}; {ONE_FILE}")
