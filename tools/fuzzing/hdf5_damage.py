"""Damage to an HDF5 file that HDF5 itself finds sound: attributes, types, shapes, links and sizes that cannot be."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from simlab.record import checksum

Node = Any  # a group or a dataset; h5py has no types


def values(chance: random.Random) -> Any:
    """Any value for an attribute or a small dataset."""
    return chance.choice([
        0, 1, -1, 2, 1 << 62, -(1 << 62), 1.5, float("nan"), float("inf"), True, "", "a", "[]", "{}", "null", "[1]",
        "[",
        '["../../decoy/precious"]', '["0123456789ab-000000.h5"]', "[" * 3000, "\x00", "x" * 3000, "1e999", '{"a": {}}',
        '{"generator": 3}', "\ud7ff", b"\xff\xfe", np.zeros(0), np.zeros((2, 2)), np.array([b"a", b"bc"]),
        np.float32(2),
        np.array([-1, 5, 1 << 60]), np.uint64((1 << 64) - 1), np.zeros(3, dtype=[("a", "i4"), ("b", "f8")]), 1 + 2j,
        h5py.Empty("f8"), h5py.Empty("S1"), np.bool_(False), np.arange(100), np.array([[1, 2], [3, 4]], dtype="i8"),
    ])  # fmt: skip


def attribute_changed(chance: random.Random, file: h5py.File, node: Node) -> None:
    names = [
        *node.attrs,
        "simlab_segment",
        "simlab_results",
        "spec_hash",
        "checksum",
        "coordinates",
        "_FillValue",
        "CLASS",
    ]
    name = chance.choice(names)
    if chance.random() < 0.25 and name in node.attrs:
        del node.attrs[name]
    else:
        node.attrs[name] = values(chance)


def taken_away(chance: random.Random, file: h5py.File, node: Node) -> None:
    if node.name != "/":
        del file[node.name]


def renamed(chance: random.Random, file: h5py.File, node: Node) -> None:
    if node.name != "/":
        name = chance.choice(["a", "-1", "99999999999999999999", "x" * 300, "é\n\x1b", "1.5", "6", "1e3", " "])
        file.move(node.name, f"{node.parent.name.rstrip('/')}/{name}")


def other_data(chance: random.Random, file: h5py.File, node: Node) -> None:
    """Another type, shape or value under the name."""
    if node.name == "/":
        return
    readable = isinstance(node, h5py.Dataset) and node.size is not None and node.size < 1_000_000  # not grown before
    name, old = node.name, node[()] if readable else np.zeros(2)
    attributes = dict(node.attrs)
    del file[name]
    ways: list[Callable[[], Any]] = [
        lambda: np.asarray(old).astype("S10") if np.asarray(old).dtype.kind in "if" else values(chance),
        lambda: np.asarray(old).astype("f4") if np.asarray(old).dtype.kind in "if" else 3,
        lambda: np.asarray(old)[..., np.newaxis], lambda: np.asarray(old).ravel()[:1], lambda: np.asarray(old).ravel(),
        lambda: np.asarray(old)[:0] if np.ndim(old) else 0, lambda: values(chance), lambda: values(chance),
    ]  # fmt: skip
    file[name] = chance.choice(ways)()
    with contextlib.suppress(Exception):
        for key, value in attributes.items():
            file[name].attrs[key] = value


def numbers_changed(chance: random.Random, file: h5py.File, node: Node) -> None:
    """Same type and shape, impossible numbers: points, counts and lengths above all."""
    if isinstance(node, h5py.Dataset) and node.shape and node.size and node.dtype.kind in "if":
        at = tuple(chance.randrange(size) for size in node.shape)
        node[at] = chance.choice([0, -1, -5, 6, 7, 1000, 1 << 31, 1 << 62, -(1 << 62)])


def absurd_size(chance: random.Random, file: h5py.File, node: Node) -> None:
    """A dataset that says it is huge; nothing of it is stored."""
    if isinstance(node, h5py.Dataset):
        name, kind, rank = node.name, node.dtype, max(1, len(node.shape or ()))
        attributes = dict(node.attrs)
        del file[name]
        shape = (chance.choice([1 << 28, 1 << 34, 1 << 40, 1 << 60]), *(3,) * (rank - 1))
        with contextlib.suppress(Exception):
            new = file.create_dataset(name, shape=shape, dtype=kind, chunks=(1,) * rank)
            new.attrs.update(attributes)


def linked(chance: random.Random, file: h5py.File, node: Node) -> None:
    """Links in the place of an object: to itself, round in a circle, to nowhere, to other files."""
    if node.name == "/":
        return
    name = node.name
    del file[name]
    which = chance.randrange(5)
    if which == 0:
        file[name] = h5py.SoftLink(name)
    elif which == 1:
        file[name] = h5py.SoftLink("/" if chance.random() < 0.5 else "/nowhere")
    elif which == 2:
        file[name] = h5py.ExternalLink(chance.choice(["nowhere.h5", "other.h5", "/dev/null", "/dev/zero"]), "/x")
    elif which == 3:
        parent = name.rpartition("/")[0] or "/"
        file[name] = file[parent]  # a group that contains itself
    else:
        layout = h5py.VirtualLayout(shape=(20, 4), dtype="f8")
        layout[:] = h5py.VirtualSource("nowhere.h5", "x", shape=(20, 4))
        file.create_virtual_dataset(name, layout, fillvalue=0.0)


def external_storage(chance: random.Random, file: h5py.File, node: Node) -> None:
    if isinstance(node, h5py.Dataset) and node.shape and node.dtype.kind in "if":
        name, shape, kind = node.name, node.shape, node.dtype
        del file[name]
        file.create_dataset(name, shape=shape, dtype=kind, external=[("/dev/zero", 0, h5py.h5f.UNLIMITED)])


CHANGES: tuple[Callable[[random.Random, h5py.File, Node], None], ...] = (
    attribute_changed, attribute_changed, attribute_changed, taken_away, renamed, other_data, other_data,
    numbers_changed,
    numbers_changed, absurd_size, linked, linked, external_storage,
)  # fmt: skip


def objects_damaged(chance: random.Random, path: Path) -> str:
    """One or two changes of its objects; a seal that it had is set again, so that readers look inside."""
    try:
        checksum.seal_of(path)
        sealed = True
    except checksum.Damaged:
        sealed = False
    said = []
    with h5py.File(path, "r+") as file:
        for _ in range(chance.choice([1, 1, 2])):
            nodes = ["/"]
            file.visit(nodes.append)
            change = chance.choice(CHANGES)
            node = file.get(chance.choice(sorted(nodes))) or file
            said.append(f"{change.__name__} of {node.name}")
            with contextlib.suppress(
                OSError, ValueError, TypeError, KeyError, RuntimeError, OverflowError, UnicodeError
            ):
                change(chance, file, node)
    if sealed:
        checksum.seal(path)
    return ", ".join(said)
