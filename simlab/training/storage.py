"""A trained network as a file: HDF5, and reading it runs no code from it (no pickle).

Kinds are stored as the TOML text of their tables, everything else as arrays and JSON. The file carries a checksum: a
changed bit is found before anything is used (`simlab.record.checksum`).

    attributes of the root     simlab_trained (version of the format), spec (TOML), ending, seed, dim, outputs (JSON),
                               made_by (JSON)
    theta, theta0              weights at the end and at the start, (size,)
    columns/NAME               values recorded under this name, one row per record
    coords/NAME                coordinates of a dimension, if it has any
"""

from __future__ import annotations

import io
import json
import os
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import tomli_w

from simlab.core import checks, foreign_code
from simlab.core.errors import BadInput, SimlabError, shown
from simlab.core.kinds import Kind
from simlab.core.parsing import choose, dump
from simlab.record import checksum
from simlab.record.atomic import committing
from simlab.record.checked import attribute, get, get_attributes, members, put, put_attributes
from simlab.record.checksum import Damaged
from simlab.record.schema import Output

if TYPE_CHECKING:
    from simlab.training.trained import Trained

SCHEMA = 1
"""Version of the format."""
MARK = "simlab_trained"
"""Attribute that tells such a file from other HDF5 files; its value is the version of the format."""
ATTRIBUTES = {MARK: int, "spec": str, "ending": str, "seed": str, "dim": int, "outputs": str, "made_by": str}


def tables_text(trained: Trained, *, strict: bool) -> str:
    """The kinds and settings of a training as TOML.

    strict: refuse Python functions, which cannot be written as text. Otherwise their repr is written.
    """

    def plain(value: Any, key: str) -> Any:
        if isinstance(value, Mapping):
            return {name: plain(item, f"{key}.{name}") for name, item in value.items()}
        if isinstance(value, list):
            return [plain(item, f"{key}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, bool | int | float | str):
            return value
        if strict:
            raise BadInput(f'{key} = {shown(value)}: cannot be saved; name it as text, "module:name", before training')
        return shown(value)

    def table(kind: Kind, key: str) -> Any:
        return plain({"kind": kind.kind, **dump(kind)}, key)

    tables = {
        "training": {
            "loss": table(trained.loss, "loss") if dump(trained.loss) else trained.loss.kind,
            "seed": str(trained.seed),
            "threads": trained.threads,
            "dtype": trained.dtype,
        },
        "network": table(trained.network, "network"),
        "flow": table(trained.flow, "flow"),
        "observables": [table(one, f"observe[{i}]") for i, one in enumerate(trained.observables)],
    }
    return tomli_w.dumps(tables)


def save(trained: Trained, path: str | Path, *, overwrite: bool) -> Path:
    """Write the file under another name, then rename it. Refuses a path that exists, unless `overwrite`."""
    checks.instance(path, "path", str | Path, "the path of a file")
    place = Path(path)
    if os.path.lexists(place) and not checks.flag(overwrite, "overwrite"):
        raise BadInput(f"{place}: is there already; give another path, or overwrite=True")
    # Ctrl-C inside HDF5's calls of a Python file would be lost. Python raises it in the main thread, which only waits.
    with ThreadPoolExecutor(1) as thread:
        image = thread.submit(_file_bytes, trained).result()
    with committing(place) as temporary:
        temporary.write_bytes(image)
        checksum.seal(temporary)
    return place


def _file_bytes(trained: Trained) -> bytes:
    """The bytes of the HDF5 file, built in memory."""
    described = {
        name: {"description": out.description, "dims": out.dims, "unit": out.unit, "dtype": out.dtype}
        | {"codes": list(out.codes.items())}
        for name, out in trained.outputs.items()
    }
    about: dict[str, int | str] = {
        MARK: SCHEMA,
        "spec": tables_text(trained, strict=True),
        "ending": trained.ending,
        "seed": str(trained.seed),
        "dim": trained.dim,
        "outputs": json.dumps(described),
        "made_by": json.dumps(dict(trained.made_by), sort_keys=True),
    }
    # Not by the core driver: in images that HDF5 1.14.2 gives of an open file a checksum is wrong.
    image = io.BytesIO()
    with h5py.File(image, "w", libver=("v110", "v110")) as file:
        put_attributes(file, about)
        put(file, "theta", trained.theta)
        put(file, "theta0", trained.theta0)
        for name, values in trained.columns.items():
            put(file.require_group("columns"), name, values)
        for output in trained.outputs.values():
            for name, values in output.coords.items():
                if name not in file.require_group("coords"):
                    put(file["coords"], name, values)
    return image.getvalue()


def load(path: str | Path, *, allow_code: bool = False) -> Trained:
    """The trained network that `Trained.save` wrote. Raises BadInput for any other file, `Damaged` for a changed one.

    allow_code: whether to import functions that the network names as "module:name" (`simlab guide trust`).
    """
    checks.instance(path, "path", str | Path, "the path of a file")
    place = Path(path)
    if not place.is_file():
        raise BadInput(f"{place}: {'is not a regular file' if place.exists() else 'no such file'}")
    try:
        return _read(place, allow_code)
    except Damaged:
        raise
    except SimlabError as error:
        raise BadInput(f"{place}: {str(error).removeprefix(f'{place}: ')}") from None
    except PermissionError as error:
        raise BadInput(f"{place}: cannot be read: {error.strerror}") from None
    except Exception as error:  # HDF5 reports damage by exceptions of many types
        raise Damaged(f"{place}: damaged: {shown(str(error).strip(), 150)[1:-1]}") from None


def _read(path: Path, allow_code: bool) -> Trained:
    """As `load`; its errors do not name the file yet."""
    from simlab.training.trained import Trained

    if not h5py.is_hdf5(path):
        raise BadInput("no trained network (Trained.save writes them)")
    checksum.check_small(path)
    with h5py.File(path) as file:
        version = attribute(file, MARK)
        if not isinstance(version, int | np.integer):
            raise BadInput("HDF5, but no trained network (Trained.save writes them)")
        if version != SCHEMA:
            raise BadInput(f"of format {version}, and this simlab reads format {SCHEMA}; install the newer simlab")
        checksum.check_seal(path)
        about = get_attributes(file, ATTRIBUTES, checked=True)
        theta, theta0 = get(file["theta"], True), get(file["theta0"], True)
        columns = {name: get(item, True) for name, item in members(file, "columns").items()}
        coords = {name: get(item, True) for name, item in members(file, "coords").items()}
    outputs = {}
    for name, described in json.loads(about["outputs"]).items():
        dims, codes = tuple(described.pop("dims")), {int(code): word for code, word in described.pop("codes")}
        own = {dim: coords[dim] for dim in dims if dim in coords}
        outputs[name] = Output(**described, dims=dims, codes=codes, coords=own)
    tables = tomllib.loads(about["spec"])
    settings = tables["training"]
    with foreign_code.allowing(allow_code):
        network, flow = choose("networks", tables["network"], "network"), choose("flows", tables["flow"], "flow")
        observables = choose("observables", tables["observables"], "observe")
        loss = choose("losses", settings["loss"], "loss")
    return Trained(
        network=network,
        flow=flow,
        observables=observables,
        theta=theta,
        theta0=theta0,
        dim=about["dim"],
        ending=about["ending"],
        seed=int(about["seed"]),
        threads=settings["threads"],
        dtype=settings["dtype"],
        loss=loss,
        columns={name: np.asarray(columns[name]) for name in outputs if name in columns},
        outputs=outputs,
        made_by=json.loads(about["made_by"]),
    )
