"""Arrays from files: what was written is read, and what cannot be read is said in one line."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simlab.core.errors import BadInput
from simlab.data._idx import TYPES as IDX_TYPES
from simlab.data.files import read_array

CODES = {np.dtype(text): code for code, text in IDX_TYPES.items()}


def idx(array):
    head = bytes([0, 0, CODES[array.dtype], array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(CODES, key=str)).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=4, max_side=5))
    ),
    st.booleans(),
)
def test_idx_files_round_trip(tmp_path_factory, array, zipped):
    path = tmp_path_factory.mktemp("idx") / "x"
    path.write_bytes(gzip.compress(idx(array)) if zipped else idx(array))
    found = read_array(path)
    expected = array.reshape(array.shape[0], -1) if array.ndim > 2 else array
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def test_numpy_and_hdf5_files(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "one.npz", X)
    np.savez(tmp_path / "two.npz", a=X, b=2 * X)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["group/x"] = X
    for source in ("x.npy", "one.npz", "two.npz::a", "x.h5", "x.h5::/group/x", "x.h5::group/x"):
        assert np.array_equal(read_array(tmp_path / source), X)


@pytest.mark.parametrize(
    ("name", "content", "source", "says"),
    [
        ("x.npy", None, "y.npy", "no such file"),
        ("x.npy", None, ".", "is a directory"),
        ("two.npz", "npz", "two.npz", "holds 2 arrays: name one as"),
        ("two.npz", "npz", "two.npz::aa", 'no such array; did you mean "a"?'),
        ("x.csv", b"1,2,3\n", "x.csv", "not a file of a known format"),
        ("x", b"", "x", "not a file of a known format"),
        ("x", bytes([0, 0, 8, 2, 0, 0, 0, 9, 0, 0, 0, 9, 1]), "x", "cut short or too long"),
        ("x", bytes([0, 0, 99, 2]), "x", "not an IDX file"),
        ("x", bytes([0, 0, 14, 3]) + bytes([255] * 12), "x", "cut short or too long"),
        ("x.h5", "empty", "x.h5", "/x is empty"),
        ("x.gz", gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 9]) + bytes(9), mtime=0)[:20], "x.gz", "cannot be read"),
        ("x.gz", gzip.compress(b"hello", mtime=0), "x.gz", "not an IDX file"),
        ("x.npy", b"\x93NUMPY\x01\x00rubbish", "x.npy", "damaged: a header of 30066 bytes"),
        ("x.npz", b"PK\x03\x04rubbish", "x.npz", "cannot be read"),
        ("x.npy", "npy", "x.npy::a", "holds one array, without a name"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, name, content, source, says):
    if content == "npz":
        np.savez(tmp_path / name, a=np.ones(2), b=np.ones(2))
    elif content == "empty":
        with h5py.File(tmp_path / name, "w") as file:
            file["x"] = h5py.Empty("f8")
    elif content == "npy":
        np.save(tmp_path / name, np.ones((2, 2)))
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput) as refused:
        read_array(tmp_path / source)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(BadInput, match="must be real numbers"):
        read_array(tmp_path / "x.npy")


def test_a_damaged_hdf5_file_is_refused_in_one_line(tmp_path: Path) -> None:
    """Whatever byte is wrong: the numbers as they were, or a line that names the file."""
    whole = tmp_path / "whole.h5"
    with h5py.File(whole, "w") as file:
        file["x"] = np.arange(6.0).reshape(2, 3)
    content = whole.read_bytes()
    lines = []
    for at in range(8, len(content), max(1, len(content) // 150)):
        path = tmp_path / "damaged.h5"
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        try:
            read_array(path)
        except BadInput as error:
            lines.append(str(error))
    assert len(lines) > 5
    assert all("damaged.h5" in line and "\n" not in line for line in lines)
