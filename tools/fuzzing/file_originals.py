"""Sound files of every kind that simlab reads back, made once and small: what is damaged then.

``run/``: segments with finished, unfinished and failed points, some merged; results.h5, spec.toml, given.toml.
``gram/``: K.h5; ``part/``: a store that was stopped half way. ``data/``: arrays in all formats. ``ledger/``: verdicts.
"""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab import kernels
from simlab.core import catalogue
from simlab.kernels.gram import store
from simlab.lab.directory import RunDirectory
from simlab.lab.results import collate_run, merged_outputs
from simlab.lab.spec import Spec, resolve
from simlab.record.provenance import provenance
from simlab.record.schema import Output
from simlab.record.segments import Checkpoint
from simlab.record.writer import MERGE_SEGMENTS, Writer

PARTS = ("run", "gram", "part", "data", "ledger", "decoy")
KERNELS = {"ntk": kernels.ntk(2)}
INPUT_ROWS = 400  # rows of the Gram matrix: more than one block
RECORD_BYTES = 7  # of the files that are nothing but records
MEMORY_BYTES = 500 << 20  # so that blocks are small


class _Stopped(Exception):
    pass


def make(home: Path) -> None:
    """All originals below `home`."""
    make_run(home / "run")
    make_gram(home)
    make_data(home / "data")
    make_ledger(home / "ledger")
    (home / "decoy").mkdir()
    (home / "decoy" / "precious").write_bytes(b"not to be touched\n")


def spec() -> Spec:
    tables = deepcopy(catalogue.examples("experiments", "gradient_flow")[0])
    tables["experiment"]["seed"] = 3
    tables["sweep"] = {"network.width": [10, 20, 30], "network.activation": ["tanh", "relu"]}
    return resolve(tables)


def make_run(home: Path) -> None:
    """Six points: two finished, one failed, one under way in many commits, one begun, one not."""
    home.mkdir(parents=True)
    run, chosen, rng = RunDirectory(home), spec(), np.random.default_rng(5)
    run.begin(chosen, overwrite=False)
    outputs = merged_outputs(chosen)
    writer = Writer(run.segments, chosen.hash, provenance())
    writer.token = "0123456789ab"
    for point in (0, 1):
        _add(writer, point, 0, 5, outputs, rng)
        writer.finish(point, 5)
    writer.fail(3, 0, "ValueError: planted", "Traceback: planted")
    writer.commit({4: Checkpoint(_state(rng), 0, 0, 0)})
    for record in range(MERGE_SEGMENTS + 2):  # the first of them are merged
        _add(writer, 2, record, 1, outputs, rng)
        writer.commit({2: Checkpoint(_state(rng), record + 1, 0, record)})
    collate_run(run, chosen)


def _state(rng: np.random.Generator) -> dict[str, Any]:
    generator = np.random.default_rng(7)
    return {"theta": rng.normal(size=30), "step": 4, "rate": 0.5, "rng": generator, "counts": np.arange(4)}


def _add(
    writer: Writer, point: int, first: int, count: int, outputs: dict[str, Output], rng: np.random.Generator
) -> None:
    def values(output: Output, rows: int) -> NDArray[Any]:
        shape = (rows, *(len(output.coords.get(dim, range(3))) for dim in output.inner))
        dtype = np.dtype(output.dtype)
        return np.zeros(shape, dtype=dtype) if dtype.kind == "i" else rng.normal(size=shape).astype(dtype)

    writer.add(point, first, {name: values(o, count) for name, o in outputs.items() if o.is_trajectory})
    if first == 0:
        writer.add(point, -1, {name: values(o, 1) for name, o in outputs.items() if not o.is_trajectory})


def inputs() -> NDArray[np.float64]:
    return np.random.default_rng(9).normal(size=(INPUT_ROWS, 3))


def make_gram(home: Path) -> None:
    for name in ("gram", "part"):
        (home / name).mkdir(parents=True)
    gram(home / "gram" / "K.h5")

    def stop(done: int, total: int, before: int) -> None:
        if done > total // 2:
            raise _Stopped

    try:
        store.gram_file(
            KERNELS,
            inputs(),
            home / "part" / "K.h5",
            limits=store.Limits(MEMORY_BYTES, threads=1, commit_seconds=0.0),
            listener=store.Listener(progress=stop),
        )
    except _Stopped:
        return
    raise RuntimeError("the store was finished before it could be stopped")


def gram(path: Path) -> None:
    """The Gram matrices, written or gone on with."""
    store.gram_file(KERNELS, inputs(), path, limits=store.Limits(MEMORY_BYTES, threads=1))


def make_data(home: Path) -> None:
    home.mkdir(parents=True)
    X = np.random.default_rng(11).normal(size=(20, 4))
    np.save(home / "x.npy", X)
    np.savez(home / "x.npz", x=X, y=X[:, 0])
    np.savez_compressed(home / "z.npz", x=X)
    with h5py.File(home / "x.h5", "w") as file:
        file["x"] = X
        file.create_dataset("inner/z", data=X, chunks=(5, 4), compression="gzip", fletcher32=True)
    idx = bytes([0, 0, 8, 3]) + np.array([6, 5, 4], dtype=">u4").tobytes() + bytes(range(120))
    (home / "x-idx3-ubyte").write_bytes(idx)
    with gzip.GzipFile(home / "x-idx3-ubyte.gz", "wb", mtime=0) as file:
        file.write(idx)
    (home / "x.bin").write_bytes(bytes(range(20)) * RECORD_BYTES)
    with gzip.GzipFile(home / "z.bin.gz", "wb", mtime=0) as file:
        file.write(bytes(range(20)) * RECORD_BYTES)


def make_ledger(home: Path) -> None:
    row = {
        "claim": "alpha_flow", "source": "planted", "statement": "planted", "expected": "1", "measured": "1",
        "holds": True, "control": "refused",
    }  # fmt: skip
    (home / "quick" / "alpha_flow").mkdir(parents=True)
    (home / "quick" / "ledger.json").write_text(json.dumps([row], indent=1))
    (home / "quick" / "alpha_flow" / "verdict.json").write_text(json.dumps({**row, "numbers": {"a": 1.5}}, indent=1))
