"""Damage to a file as bytes, and other things under its name."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

PAGE_BYTES = (16, 64, 512, 4096)


def flipped(chance: random.Random, data: bytearray) -> bytes:
    """One bit, a few, or many."""
    for _ in range(chance.choice([1, 1, 1, 1, 5, 100])):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def head_changed(chance: random.Random, data: bytearray) -> bytes:
    """Where formats keep their sizes and marks."""
    for _ in range(chance.choice([1, 2, 4])):
        at = chance.randrange(max(1, min(len(data), 256)))
        data[at : at + 1] = bytes([chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])])
    return bytes(data)


def number_put_in(chance: random.Random, data: bytearray) -> bytes:
    """Eight bytes overwritten by a length or an offset that cannot be."""
    at = chance.randrange(max(1, len(data)))
    order = chance.choice(["little", "big"])
    number = chance.choice([0, 1, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, 1 << 40, len(data), len(data) - 8])
    data[at : at + 8] = max(0, number).to_bytes(8, "little" if order == "little" else "big")
    return bytes(data)


def cut_short(chance: random.Random, data: bytearray) -> bytes:
    return bytes(
        data[: chance.choice([chance.randrange(len(data) + 1), max(0, len(data) - chance.randrange(1, 60)), 8])]
    )


def pages_changed(chance: random.Random, data: bytearray) -> bytes:
    """Pages zeroed, doubled, exchanged or filled with noise, as disks do."""
    size = chance.choice(PAGE_BYTES)
    count = max(1, len(data) // size)
    a, b = chance.randrange(count) * size, chance.randrange(count) * size
    page = bytes(data[a : a + size])
    which = chance.randrange(4)
    if which == 0:
        data[a : a + size] = bytes(len(page))
    elif which == 1:
        data[b : b + len(page)] = page
    elif which == 2:
        other = bytes(data[b : b + size])
        if len(other) == len(page):
            data[a : a + size], data[b : b + size] = other, page
    else:
        data[a : a + size] = chance.randbytes(len(page))
    return bytes(data)


def lengthened(chance: random.Random, data: bytearray) -> bytes:
    return bytes(data) + chance.choice([b"\0", chance.randbytes(100), bytes(5000), bytes(data)])


def taken_out(chance: random.Random, data: bytearray) -> bytes:
    a = chance.randrange(len(data) + 1)
    return bytes(data[:a] + data[a + chance.choice([1, 8, 512]) :])


def noise(chance: random.Random, data: bytearray) -> bytes:
    return chance.randbytes(chance.choice([0, 1, 7, 8, 100, 5000]))


def other_format(chance: random.Random, data: bytearray) -> bytes:
    """A sound file of another format."""
    return chance.choice(_others())


def _others() -> list[bytes]:
    npy, npz, objects, h5 = io.BytesIO(), io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(npy, np.eye(3))
    np.savez(npz, a=np.eye(3))
    np.save(objects, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with h5py.File(h5, "w") as file:
        file["a"] = np.eye(3)
    idx = bytes([0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3])
    texts = [b"", b"hello\n", b"{}", b"[]", b"null", b'"', b"[" * 5000, b"1" * 5000, b'{"claim": 1}', b"[experiment]\n"]
    texts += [
        json.dumps([{"claim": "a"}]).encode(),
        b"\xff\xfe\x00",
        b"\x00" * 300,
        b"PK\x03\x04",
        b"\x93NUMPY",
        b"\x1f\x8b",
    ]
    return [npy.getvalue(), npz.getvalue(), objects.getvalue(), h5.getvalue(), idx, gzip.compress(idx, mtime=0), *texts]


BYTES: tuple[Callable[[random.Random, bytearray], bytes], ...] = (
    flipped, flipped, flipped, flipped, head_changed, number_put_in, cut_short, pages_changed, lengthened, taken_out,
    noise,
    other_format,
)  # fmt: skip


def something_else(chance: random.Random, path: Path, decoy: Path) -> str:
    """Not a file at all under the name, or a link."""
    path.unlink()
    which = chance.choice(["directory", "nothing", "loop", "dangling", "decoy", "device", "pipe"])
    if which == "directory":
        path.mkdir()
        (path / "inside").write_text("x")
    elif which == "loop":
        path.symlink_to(path)
    elif which == "dangling":
        path.symlink_to(path.parent / "nowhere")
    elif which == "decoy":
        path.symlink_to(decoy)
    elif which == "device":
        path.symlink_to(chance.choice(["/dev/null", "/dev/zero", "/"]))
    elif which == "pipe":
        os.mkfifo(path)
    return f"{which} in its place"


def bytes_damaged(chance: random.Random, path: Path) -> str:
    """One or two changes of its bytes; says which."""
    said = []
    for _ in range(chance.choice([1, 1, 1, 2])):
        change = chance.choice(BYTES)
        path.write_bytes(change(chance, bytearray(path.read_bytes())))
        said.append(change.__name__)
    return ", ".join(said)
