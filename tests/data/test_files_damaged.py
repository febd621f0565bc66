"""Files of any content: an array of real numbers, or one line; never a traceback, another file, or all of memory."""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.data.arrays import Arrays
from simlab.data.files import read_array
from simlab.data.images import Images

X = np.arange(24.0).reshape(6, 4)


def npy(header: str | bytes, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header if isinstance(header, bytes) else header.encode()
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[:1] == b"\x01" else 4, "little") + text + body


def saved(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def archive(*members: tuple[str, bytes], compress: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compress) as opened:
        for name, content in members:
            opened.writestr(name, content)
    return file.getvalue()


def hdf5() -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        opened.create_dataset("group/x", data=X, chunks=(3, 2), compression="gzip")
        opened["y"] = X
        opened["text"] = "words"
    return file.getvalue()


IDX = bytes([0, 0, 14, 2]) + struct.pack(">2I", *X.shape) + X.astype(">f8").tobytes()


def refused(path: Path | str) -> str:
    with pytest.raises(BadInput) as error:
        read_array(path)
    line = str(error.value)
    assert len(line) < 500
    assert "\n" not in line
    return line


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A flipped bit, other bytes, a piece cut out, cut short, or lengthened."""
    changed, way = bytearray(content), chance.randrange(6)
    at = chance.randrange(min(len(content), 400)) if chance.random() < 0.6 else chance.randrange(len(content))
    if way <= 1:
        changed[at] ^= 1 << chance.randrange(8)
    elif way == 2:
        changed[at : at + 8] = chance.randbytes(8)
    elif way == 3:
        del changed[at : at + chance.randrange(1, 60)]
    elif way == 4:
        del changed[at:]
    else:
        changed[at:at] = chance.choice([b"\0", b"\xff" * 8, b"9" * 5000, chance.randbytes(40)])
    return bytes(changed)


@pytest.mark.parametrize(
    ("content", "source"),
    [
        (saved(X), "x"),
        (saved(np.asfortranarray(X.astype(">f4"))), "x"),
        (archive(("a.npy", saved(X)), ("b.npy", saved(2 * X))), "x::a"),
        (archive(("a.npy", saved(X)), compress=zipfile.ZIP_STORED), "x"),
        (hdf5(), "x::group/x"),
        (IDX, "x"),
        (gzip.compress(IDX, mtime=0), "x"),
    ],
    ids=["npy", "npy fortran", "npz", "npz stored", "hdf5", "idx", "gzip"],
)
def test_damaged_files_give_numbers_or_one_line(tmp_path: Path, content: bytes, source: str) -> None:
    chance, path = random.Random(content), tmp_path / "x"
    lines: list[str] = []
    path.write_bytes(content)
    assert np.array_equal(read_array(tmp_path / source), X)
    for _ in range(250):
        path.write_bytes(mutated(content, chance))
        try:
            assert read_array(tmp_path / source).dtype.kind in "biuf"
        except BadInput as error:
            lines.append(str(error))
    assert len(lines) > 100
    assert all(len(line) < 500 and "\n" not in line for line in lines)


HEAD = "{'descr': '<f8', 'fortran_order': False, 'shape': (6, 4), }"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (npy(HEAD, version=b"\x09\x00"), "version 9.0 of the .npy format"),
        (npy("[1, 2]"), "its header reads"),
        (npy("{'descr': '<f8'}"), "its header reads"),
        (npy("{'descr': '<f8', 'fortran_order': 3, 'shape': (2, 2)}"), "its header reads"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}"), "its header reads"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2)}"), "its header reads"),
        (npy("{'descr': 'nonsense', 'fortran_order': False, 'shape': (1, 2)}"), "its header reads"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1," + "9" * 5000 + ")}"), "its header reads"),
        (npy("(" * 5000), "its header reads"),
        (npy("-" * 5000 + "1"), "its header reads"),
        (npy("{'a': 'b\n c"), "its header reads"),
        (npy("\x00\xff\xfe'"), "its header reads"),
        (npy(b" " * 10_000_000, version=b"\x02\x00"), "a header of 10000000 bytes"),
        (npy(b"\xff\xfe" * 20, version=b"\x03\x00"), "its header reads"),
        (npy(HEAD.replace("6, 4", "1000000000000, 4"), bytes(64)), "makes 32000000000"),
        (saved(X)[:-1], "cut short or damaged"),
        (saved(X) + b"x", "cut short or damaged"),
        (saved(np.array(["a", "b"])), "holds text"),
        (saved(np.array([b"a"])), "holds text"),
        (saved(np.array(["2020-01-01"], "M8[D]")), "holds dates"),
        (saved(np.array([3], "m8[s]")), "holds lengths of time"),
        (saved(np.array([1j])), "holds complex numbers"),
        (saved(np.array([{}], object)), "holds objects"),
        (saved(np.zeros(3, [("a", "f8"), ("b", "i4")])), "holds records"),
        (archive(("a.npy", saved(X)), ("b.txt", b"hello"))[:-30], "cannot be read"),
        (archive(("notes.txt", b"hello")), "holds no arrays"),
        (archive(("a.npy", b"hello")), "not an array of NumPy's"),
        (archive(("a.npy", saved(np.array([{}], object)))), "holds objects"),
        (archive(("a.npy", npy(HEAD.replace("6, 4", "1000000000000, 4"), bytes(64)))), "makes 32000000000"),
        (bytes([0, 0, 8, 2]) + struct.pack(">2I", 4_000_000_000, 4_000_000_000), "cut short or too long"),
        (gzip.compress(bytes([0, 0, 8, 2]) + struct.pack(">2I", 1 << 20, 1 << 20)), "cut short or too long"),
        (gzip.compress(IDX)[:-6] + b"\0\0\0\0\0\0", "cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "x").write_bytes(content)
    assert says in refused(tmp_path / "x")


def test_python_2_and_zero_rows_are_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(npy(HEAD.replace("6, 4", "6L, 4L"), X.tobytes()))
    assert np.array_equal(read_array(tmp_path / "x"), X)
    np.save(tmp_path / "none.npy", np.empty((0, 3)))
    assert read_array(tmp_path / "none.npy").shape == (0, 3)


def test_flags_of_an_archive(tmp_path: Path) -> None:
    """Encrypted, of an unknown method, a wrong checksum, two of one name."""
    path, content = tmp_path / "x.npz", archive(("a.npy", saved(X)), compress=zipfile.ZIP_STORED)
    local, central = content.index(b"PK\x03\x04"), content.index(b"PK\x01\x02")

    def patched(of_local: int, of_central: int, value: int) -> bytes:
        changed = bytearray(content)
        changed[local + of_local], changed[central + of_central] = value, value
        return bytes(changed)

    for changed, says in (
        (patched(6, 8, 1), "is encrypted"),
        (patched(8, 10, 77), "cannot be read"),
        (patched(14, 16, content[central + 16] ^ 1), "Bad CRC-32"),
    ):
        path.write_bytes(changed)
        assert says in refused(path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        path.write_bytes(archive(("a.npy", saved(X)), ("a.npy", saved(2 * X))))
    assert "twice" in refused(path)


def test_sizes_beyond_memory_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files that unpack to 200 MB, where 100 MB are free."""
    zeros = np.zeros(25_000_000)
    np.savez_compressed(tmp_path / "x.npz", zeros)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", zeros.shape, "f8", chunks=(1000,))
        file.create_dataset("chunk", (10,), "f8", maxshape=(None,), chunks=(25_000_000,))
        file.create_dataset("huge", (10**12, 10**6), "f8", chunks=(10, 10))
    (tmp_path / "x.gz").write_bytes(
        gzip.compress(bytes([0, 0, 14, 1]) + struct.pack(">I", zeros.size) + zeros.tobytes())
    )
    del zeros
    monkeypatch.setattr(checks, "free_memory", lambda: 100 << 20)
    for source in ("x.npz", "x.h5::x", "x.h5::chunk", "x.h5::huge", "x.gz"):
        tracemalloc.start()
        assert "0.105 GB are free; saved as .npy" in refused(tmp_path / source)
        assert tracemalloc.get_traced_memory()[1] < 20e6
        tracemalloc.stop()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Callable[[str], Path]:
    """HDF5 files whose numbers lie in another file."""
    X.tofile(tmp_path / "raw.bin")
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file["x"] = X
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("raw", X.shape, "f8", external=[(str(tmp_path / "raw.bin"), 0, h5py.h5f.UNLIMITED)])
        layout = h5py.VirtualLayout(X.shape, "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "source.h5"), "x", X.shape)
        file.create_virtual_dataset("virtual", layout)
        file["linked"] = h5py.ExternalLink(str(tmp_path / "source.h5"), "/x")
        file["root"] = h5py.ExternalLink(str(tmp_path / "source.h5"), "/")
        file["to_linked"] = h5py.SoftLink("/linked")
        file["to_root"] = h5py.SoftLink("root")
        file["to_raw"] = h5py.SoftLink("/raw")
    return lambda name: Path(f"{path}::{name}")


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("raw", "external storage in"),
        ("to_raw", "external storage in"),
        ("virtual", "virtual"),
        ("linked", "a link into another file"),
        ("root/x", "a link into another file"),
        ("to_linked", "a link into another file"),
        ("to_root/x", "a link into another file"),
    ],
)
def test_numbers_of_another_file_are_refused(
    tmp_path: Path, elsewhere: Callable[[str], Path], name: str, says: str, gone: bool
) -> None:
    if gone:  # zeros, as HDF5 reads it
        (tmp_path / "raw.bin").unlink()
        (tmp_path / "source.h5").unlink()
    line = refused(elsewhere(name))
    assert says in line
    assert "copy the numbers into one file" in line


def test_no_other_file_is_opened(
    tmp_path: Path, elsewhere: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe in place of the other file would be waited for without end."""
    (tmp_path / "raw.bin").unlink()
    (tmp_path / "source.h5").unlink()
    os.mkfifo(tmp_path / "raw.bin")
    os.mkfifo(tmp_path / "source.h5")
    for name in ("raw", "virtual", "linked", "root/x", "to_root/x", ""):
        refused(str(elsewhere(name)).removesuffix("::"))


def test_links_inside_a_file_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["group/x"] = X
        file["y"] = X
        file["group/near"] = h5py.SoftLink("x")
        file["far"] = h5py.SoftLink("/group")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["a"] = h5py.SoftLink("/b")
        file["b"] = h5py.SoftLink("/a")
        file["type"] = np.dtype("f8")
    for name in ("group/near", "/far/near", "far/x", "group//x/", "./group/x"):
        assert np.array_equal(read_array(f"{path}::{name}"), X)
    assert "leads nowhere" in refused(f"{path}::dangling")
    assert "lead to each other" in refused(f"{path}::a")
    assert "is not a dataset" in refused(f"{path}::group")
    assert "is not a dataset" in refused(f"{path}::type")
    assert 'did you mean "group/x"?' in refused(f"{path}::group/z")
    assert "no such array" in refused(f"{path}::y/x")


def test_types_of_hdf5_that_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["strings"] = ["a", "b"]
        file["fixed"] = np.array([b"a", b"bc"])
        file["complex"] = np.ones(3, complex)
        file["compound"] = np.zeros(3, [("a", "f8")])
        file["opaque"] = np.array([b"1"], "V1")
        file.create_dataset("reference", (1,), dtype=h5py.ref_dtype)
        file.create_dataset("vlen", (1,), dtype=h5py.vlen_dtype("f8"))
        h5py.h5d.create(file.id, b"time", h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((3,)))
        names = list(file)
        file["bool"] = np.array([[True, False]])
        file["half"] = np.ones((2, 2), np.float16)
    for name in names:
        line = refused(f"{path}::{name}")
        assert "must be real numbers" in line or name == "time", line
    assert read_array(f"{path}::bool").dtype == bool
    assert read_array(f"{path}::half").dtype == np.float16


def test_a_filter_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=X, chunks=(3, 2), compression="gzip")
    content = path.read_bytes()
    at = content.index(struct.pack("<HH", 1, 8) + b"\x01\x00\x01\x00deflate")
    path.write_bytes(content[:at] + struct.pack("<H", 30000) + content[at + 2 :])
    assert "filter" in refused(path)


@pytest.mark.parametrize("name", ["a" * 5000, "x\0y", "d/" * 3000, "x.npy/y"])
def test_paths_that_cannot_be(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.npy").write_bytes(saved(X))
    refused(f"{tmp_path}/{name}")
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    for call in (
        lambda: Arrays(path=name).dimension(),
        lambda: Images(subdirectory=name).dimension(),
    ):
        with pytest.raises(BadInput) as error:
            call()
        assert len(str(error.value)) < 500


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refused(tmp_path / "pipe")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.npy").write_bytes(saved(X))

    def denied(*arguments: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)  # root, who may run this, reads every file
    assert "Permission denied" in refused(tmp_path / "x.npy")
