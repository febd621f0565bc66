"""Everything that reads files back, each as a function of the home of the originals and the damaged file.

A reader returns what it read in a form that can be compared. `strict` ones must return what the sound file gives, or
refuse; the others read files without a checksum, or say things that the file's date is part of.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import simlab
from fuzzing import file_originals
from fuzzing.judging import Wrong, bad_line
from simlab.core.errors import BadInput
from simlab.data.files import read_array, read_records
from simlab.kernels.gram.stored import verify_gram
from simlab.lab.directory import RunDirectory
from simlab.lab.results import collate_run
from simlab.record.reader import Results
from simlab.record.verify import verify_run


@dataclass(frozen=True)
class Reader:
    """read: (home, damaged file) -> what was read. strict: it must be the sound data. writes: files it may change."""

    read: Callable[[Path, Path], Any]
    strict: bool = True
    writes: tuple[str, ...] = ()


def plain(values: Any) -> tuple[str, tuple[int, ...], bytes]:
    """An array, bit for bit; of texts, the texts."""
    array = np.asarray(values)
    content = repr(array.tolist()).encode() if array.dtype == object else np.ascontiguousarray(array).tobytes()
    return array.dtype.str, array.shape, content


def _open(home: Path, path: Path) -> Any:
    with simlab.open(home / "run") as data:
        try:
            loaded = data.load()
        except (OSError, RuntimeError, ValueError, MemoryError) as error:  # of h5py: values are read when asked for
            raise BadInput(f"results.h5: {type(error).__name__}") from None
        return {str(name): (item.dims, plain(item.values)) for name, item in loaded.variables.items()}


def _results(home: Path, path: Path) -> Any:
    results = Results(home / "run")
    found = {name: (results.dims[name], plain(results[name])) for name in results}
    repr(results)
    for name in results:
        results.describe(name)
    return found


def _attributes(home: Path, path: Path) -> Any:
    results = Results(home / "run")
    return {key: plain(value) for key, value in results.attrs.items()}


def _spec(home: Path, path: Path) -> Any:
    spec = RunDirectory(home / "run").read_spec()
    return spec.hash, spec.seed, spec.sweep.points


def _index(home: Path, path: Path) -> Any:
    run = RunDirectory(home / "run")
    spec = run.read_spec()
    index = run.index(spec)
    index.check_rows(spec.sweep.points)
    points = spec.sweep.points
    return plain(index.lengths(points)), plain(index.status(points)), sorted(index.failed.items()), index.provenance()


def _checkpoints(home: Path, path: Path) -> Any:
    run = RunDirectory(home / "run")
    index = run.index(run.read_spec())
    found = {}
    for point, at in index.checkpoints.items():
        checkpoint = at.segment.checkpoint(point)
        state = {
            k: str(v.bit_generator.state) if isinstance(v, np.random.Generator) else plain(v)
            for k, v in checkpoint.state.items()
        }
        found[point] = (sorted(state.items()), checkpoint.records, checkpoint.attempt, checkpoint.serial)
    return found


def _collate(home: Path, path: Path) -> Any:
    run = RunDirectory(home / "run")
    collate_run(run, run.read_spec())
    with h5py.File(run.results) as file:
        return {name: plain(item[()]) for name, item in file.items() if isinstance(item, h5py.Dataset)}


def _lines(found: list[str]) -> None:
    """What a check found counts as refused; each of its lines must be one."""
    for line in found:
        if bad := bad_line(line):
            raise Wrong(f"{bad} in what a check says")
    if found:
        raise BadInput(found[0])


def _verify(home: Path, path: Path) -> Any:
    _lines(verify_run(home / "run"))


def _verify_gram(home: Path, path: Path) -> Any:
    _lines(verify_gram(path))


def _gram(home: Path, path: Path) -> Any:
    target = path if path.name == "K.h5" else path.with_name("K.h5")
    file_originals.gram(target)
    with h5py.File(target) as file:
        return {name: plain(file[name][()]) for name in file_originals.KERNELS}


def _array(home: Path, path: Path) -> Any:
    name = {"K.h5": "::ntk", "x.npz": "::x", "x.h5": "::inner/z"}.get(path.name, "")
    if ".bin" in path.suffixes:
        return plain(read_records(path, file_originals.RECORD_BYTES))
    return plain(read_array(f"{path}{name}"))


def _command(*arguments: str) -> str:
    """What a command prints."""
    from simlab.cli.app import app

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        app.main(list(arguments), "simlab", standalone_mode=False)
    return out.getvalue()


def _status(home: Path, path: Path) -> Any:
    found = json.loads(_command("status", str(home / "run"), "--json"))
    return {key: value for key, value in found.items() if key not in ("bytes", "running", "results", "ended_early")}


def _show(home: Path, path: Path) -> Any:
    json.loads(_command("show", str(home / "run"), "--json"))


def _ledger(home: Path, path: Path) -> Any:
    for place in ("ledger", "ledger/quick", "ledger/quick/alpha_flow"):
        with contextlib.suppress(BadInput):
            _command("show", str(home / place))


RESULTS = ("run/results.h5",)
STORE = ("part/K.h5", "part/K.h5.part", "part/K.h5.part.json")
READERS = {
    "open": Reader(_open),
    "results": Reader(_results),
    "attributes": Reader(_attributes),
    "spec": Reader(_spec),
    "index": Reader(_index),
    "checkpoints": Reader(_checkpoints),
    "collate": Reader(_collate, writes=RESULTS),
    "verify": Reader(_verify),
    "verify_gram": Reader(_verify_gram),
    "gram": Reader(_gram),
    "part": Reader(_gram, writes=STORE),
    "array": Reader(_array, strict=False),
    "status": Reader(_status),
    "show": Reader(_show, strict=False),
    "ledger": Reader(_ledger, strict=False),
}
