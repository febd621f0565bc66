"""Reading results.h5 with nothing but h5py and NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, nearest, one_of
from simlab.record.schema import RECORD, RESULTS_SCHEMA


class Results(Mapping[str, NDArray[Any]]):
    """A mapping from recorded names and coordinates to arrays, read when asked for.

    ``results["train_loss"]`` is the whole array, ``results.dims["train_loss"]`` names its dimensions, and
    ``results.select("train_loss", {"network.width": 100, "seed": 0})`` is one trajectory without its padding.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = results_path(path)
        self._names: dict[str, tuple[str, ...]] = {}
        self._read: dict[str, NDArray[Any]] = {}
        try:
            with h5py.File(self.path) as file:
                check_version(self.path, file.attrs.get("simlab_results"))
                for name, item in file.items():
                    if isinstance(item, h5py.Dataset):
                        self._names[name] = (name,) if item.is_scale else _dims(item)
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be read as HDF5 ({error})") from None

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(f"{name!r} is not recorded{nearest(name, self)} (there are: {one_of(self)})")
        if name not in self._read:
            with h5py.File(self.path) as file:
                dataset = file[name]
                text = h5py.check_string_dtype(dataset.dtype)
                self._read[name] = np.asarray(dataset.asstr()[()]) if text else np.asarray(dataset[()])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        return self._names

    @cached_property
    def attrs(self) -> dict[str, Any]:
        """The provenance: spec, seed, versions, machine."""
        with h5py.File(self.path) as file:
            return dict(file.attrs)

    def describe(self, name: str) -> dict[str, Any]:
        """Unit and description of one name."""
        with h5py.File(self.path) as file:
            hidden = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME")
            return {key: value for key, value in file[name].attrs.items() if key not in hidden}

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
            with h5py.File(self.path) as file:
                shape = file[name].shape
            inside = ", ".join(f"{dim}: {size}" for dim, size in zip(dims, shape, strict=True))
            lines.append(f"  {name:<24} ({inside})")
        return "\n".join(lines)


def _dims(dataset: h5py.Dataset) -> tuple[str, ...]:
    return tuple(dim[0].name.removeprefix("/") for dim in dataset.dims)


def check_version(path: Path, version: Any) -> None:
    """Refuse what is no results file, or one of another version of the format; say what to do."""
    if version is None:
        raise BadInput(f"{path}: HDF5, but not a results file of simlab")
    if int(version) != RESULTS_SCHEMA:
        todo = (
            f"`simlab collate {path.parent}` writes it anew from its segments"
            if int(version) < RESULTS_SCHEMA
            else "install the newer simlab that wrote it"
        )
        raise BadInput(
            f"{path}: results of format {int(version)}, and this simlab reads format {RESULTS_SCHEMA}; {todo}"
        )


def results_path(path: str | Path) -> Path:
    """The results.h5 of a run directory, or the file itself."""
    path = Path(path)
    if path.is_dir():
        if (path / "results.h5").exists():
            return path / "results.h5"
        hint = f"; `simlab collate {path}` writes it" if (path / "spec.toml").exists() else ""
        raise BadInput(f"{path}: no results.h5 here{hint}")
    if not path.exists():
        raise BadInput(f"{path}: no such file")
    return path


def open_results(path: str | Path) -> Any:
    """An `xarray.Dataset` where xarray and h5netcdf are installed, else `Results`."""
    path = results_path(path)
    try:
        import h5netcdf  # noqa: F401
        import xarray
    except ImportError:
        return Results(path)
    return xarray.open_dataset(path, engine="h5netcdf")
