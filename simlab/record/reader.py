"""Reading results.h5: `open_results` gives users an `xarray.Dataset`, `Results` is what simlab itself reads with.

`Results` needs nothing but h5py and NumPy, takes values as they are stored (-1 for an integer that is missing), and
imports in a fifth of xarray's time.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, SimlabError, nearest, one_of, shown
from simlab.record.checked import attribute, members
from simlab.record.checksum import CHECKSUM, Damaged, check_small, of_array, of_text
from simlab.record.schema import CHECKSUMS, COORDINATES, MISSING, RECORD, RESULTS_SCHEMA

if TYPE_CHECKING:
    import xarray

NAMES = "DIMENSION_LIST"
"""HDF5's attribute for the names of a dataset's dimensions."""


class Results(Mapping[str, NDArray[Any]]):
    """A mapping from recorded names and coordinates to arrays, read when asked for.

    ``results["train_loss"]`` is the whole array, ``results.dims["train_loss"]`` names its dimensions, and
    ``results.select("train_loss", {"network.width": 100, "seed": 0})`` is one trajectory without its padding.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = results_path(path)
        self._names: dict[str, tuple[str, ...]] = {}
        self._read: dict[str, NDArray[Any]] = {}
        with self.file() as file:
            _check_structure(file)
            for name, item in members(file).items():
                if isinstance(item, h5py.Dataset):
                    self._names[name] = (name,) if item.is_scale else _dims(item)

    @contextlib.contextmanager
    def file(self) -> Iterator[h5py.File]:
        """The file, open for reading; damage found in it is said in one line."""
        with _checked(self.path) as file:
            yield file

    def __getitem__(self, name: str) -> NDArray[Any]:
        self._check_name(name)
        if name not in self._read:
            with self.file() as file:
                dataset = file[name]
                check_marked(dataset)
                text = h5py.check_string_dtype(dataset.dtype)
                self._read[name] = np.asarray(dataset.asstr()[()]) if text else np.asarray(dataset[()])
        return self._read[name]

    def _check_name(self, name: str) -> None:
        if name not in self._names:
            raise KeyError(f"{name!r} is not recorded{nearest(name, self)} (there are: {one_of(self)})")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Name → its dimensions."""
        return self._names

    @cached_property
    def attrs(self) -> dict[str, Any]:
        """The provenance: spec, seed, versions, machine."""
        with self.file() as file:
            found = dict(file.attrs)
            for name, claimed in json.loads(found.get(CHECKSUMS, "{}")).items():
                if of_text(str(found.get(name))) != claimed:
                    raise OSError(f"the checksum of the attribute {name} differs")
            return found

    def describe(self, name: str) -> dict[str, Any]:
        """Unit and description of one name."""
        self._check_name(name)
        with self.file() as file:
            hidden = (NAMES, "REFERENCE_LIST", "CLASS", "NAME", CHECKSUM)
            return {key: value for key, value in file[name].attrs.items() if key not in hidden}

    def shape(self, name: str) -> tuple[int, ...]:
        """The lengths of its dimensions, without reading it."""
        self._check_name(name)
        with self.file() as file:
            shape: tuple[int, ...] = file[name].shape
        return shape

    def select(self, name: str, where: Mapping[str, Any]) -> NDArray[Any]:
        """The values at the given coordinates; one point's trajectory comes without its padding.

        A coordinate is matched by value (floats to 1e-12 relative) along the dimension that it lies on.
        """
        values, dims = self[name], list(self._names[name])
        chosen: dict[str, int] = {}
        for key, wanted in where.items():
            if key not in self or len(self._names[key]) != 1:
                raise KeyError(f"{key!r} is not a coordinate{nearest(key, self)}")
            coords = self[key]
            numeric = coords.dtype.kind in "if"
            equal = np.isclose(coords, wanted, rtol=1e-12, atol=0) if numeric else coords == wanted
            if not np.any(equal):
                raise KeyError(f"{key} = {wanted!r} is not in the sweep (there are: {coords.tolist()})")
            chosen[self._names[key][0]] = int(np.flatnonzero(equal)[0])
        position = tuple(chosen.get(dim, slice(None)) for dim in dims)
        axes = self._names["length"]
        if RECORD in dims and all(axis in chosen for axis in axes):
            length = int(self["length"][tuple(chosen[axis] for axis in axes)])
            position = tuple(slice(0, length) if d == RECORD else p for d, p in zip(dims, position, strict=True))
        return np.asarray(values[position])

    def __repr__(self) -> str:
        lines = [f"<simlab results {self.path}>"]
        for name, dims in self._names.items():
            inside = ", ".join(f"{dim}: {size}" for dim, size in zip(dims, self.shape(name), strict=True))
            lines.append(f"  {name:<24} ({inside})")
        return "\n".join(lines)


def _dims(dataset: h5py.Dataset) -> tuple[str, ...]:
    return tuple(dim[0].name.removeprefix("/") for dim in dataset.dims)


def _check_structure(file: h5py.File) -> None:
    """Refuse what is not in this file, what contains itself, and other numbers of dimensions than of names for them.

    h5netcdf would walk round for ever, HDF5 crash.
    """
    seen: set[int] = set()
    waiting = [file["/"]]
    while waiting:
        group = waiting.pop()
        seen.add(h5py.h5o.get_info(group.id).addr)
        for name in list(group):
            where = f"{group.name.rstrip('/')}/{name}"
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise OSError(f"{where} lies in another file")
            item = group[name]
            if isinstance(item, h5py.Dataset) and (item.is_virtual or item.external):
                raise OSError(f"{where} has its values in another file")
            named = isinstance(item, h5py.Dataset) and NAMES in list(item.attrs)
            if named and item.attrs.get_id(NAMES).shape != (item.ndim,):
                raise OSError(f"{where} has not as many dimensions as names for them")
            if isinstance(item, h5py.Group):
                if isinstance(link, h5py.SoftLink) or h5py.h5o.get_info(item.id).addr in seen:
                    raise OSError(f"{where} leads to a group that is elsewhere in the file")
                waiting.append(item)


def _check_version(path: Path, version: Any) -> None:
    """Refuse what is no results file, or one of another version of the format; say what to do."""
    if not isinstance(version, int | np.integer):
        raise BadInput(f"{path}: HDF5, but not a results file of simlab")
    if version != RESULTS_SCHEMA:
        todo = (
            f"`simlab collate {path.parent}` writes it anew from its segments"
            if version < RESULTS_SCHEMA
            else "install the newer simlab that wrote it"
        )
        raise BadInput(f"{path}: results of format {version}, and this simlab reads format {RESULTS_SCHEMA}; {todo}")


def results_path(path: str | Path) -> Path:
    """The results.h5 of a run directory, or the file itself."""
    path = Path(path)
    if path.is_dir():
        if (path / "results.h5").exists():
            return results_path(path / "results.h5")
        hint = f"; `simlab collate {path}` writes it" if (path / "spec.toml").exists() else ""
        raise BadInput(f"{path}: no results.h5 here{hint}")
    if not path.is_file():
        raise BadInput(f"{path}: {'is not a regular file' if path.exists() else 'no such file'}")
    return path


def check_marked(dataset: h5py.Dataset) -> None:
    """Check what fletcher32 does not cover: texts and single numbers. Files of earlier versions have no checksums."""
    claimed = attribute(dataset, CHECKSUM)
    if isinstance(claimed, str) and of_array(np.asarray(dataset[()])) != claimed:
        raise OSError(f"the checksum of {dataset.name} differs")


@contextlib.contextmanager
def _checked(path: Path) -> Iterator[h5py.File]:
    """A results file of this format, open; anything else is refused in one line."""
    try:
        check_small(path)
        with h5py.File(path) as file:
            _check_version(path, attribute(file, "simlab_results"))
            yield file
    except Damaged as error:
        raise _damaged(path, str(error).partition("damaged: ")[2]) from None
    except SimlabError:
        raise
    except MemoryError:
        raise BadInput(f"{path}: not enough memory to read it") from None
    except PermissionError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except Exception as error:  # HDF5 tells damage in any of them
        why = shown(str(error).strip(), 150)[1:-1]
        raise _damaged(path, f"cannot be read as HDF5 ({why})") from None


def _damaged(path: Path, why: str) -> Damaged:
    home = shlex.quote(str(path.parent))
    advice = f"; `simlab collate {home}` writes it again" if (path.parent / "spec.toml").exists() else ""
    return Damaged(f"{path}: {why}{advice}")


def open_results(path: str | Path) -> xarray.Dataset:
    """The results of a run as an `xarray.Dataset`, read from the file when asked for.

    A value that is missing is NaN. Integers of which none is missing stay integers; xarray alone makes floats of all
    that could be missing. The Dataset holds on to the file that it opened, also when results.h5 is written anew.
    """
    import xarray  # a second

    path = results_path(path)
    with _checked(path) as file:
        _check_structure(file)
        items = members(file)
        whole = [name for name, item in items.items() if attribute(item, MISSING) == 0]
        for item in items.values():
            if isinstance(item, h5py.Dataset):
                check_marked(item)
        with warnings.catch_warnings():
            warnings.simplefilter("error", xarray.SerializationWarning)  # an attribute that cannot be right
            data = xarray.open_dataset(
                path,
                engine="h5netcdf",
                mask_and_scale=dict.fromkeys(whole, False),
                decode_times=False,  # a time here is a number, whatever its unit
                phony_dims="sort",  # of a dataset that somebody added without dimensions
            )
    for name in whole:  # where xarray keeps it: a copy written by to_netcdf is marked likewise
        data[name].encoding["_FillValue"] = data[name].attrs.pop("_FillValue")
    for item in data.variables.values():
        for name in (MISSING, CHECKSUM):  # true of the whole file only, not of what is chosen from it
            item.attrs.pop(name, None)
    return data.set_coords([name for name in COORDINATES if name in data and RECORD in data[name].dims])
