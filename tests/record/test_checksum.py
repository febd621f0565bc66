"""Checksums find any changed bit, and nothing in what is sound."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from simlab.record import checksum


def sealed_file(path: Path) -> bytes:
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        file["x"] = np.arange(7.0)
        file["words"] = ["a", "bc"]
    checksum.seal(path)
    return path.read_bytes()


def test_every_changed_bit_of_a_sealed_file_is_found_and_every_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    sound = sealed_file(path)
    checksum.check_seal(path)
    with h5py.File(path) as file:  # HDF5 does not look behind its own end
        assert file["x"][3] == 3.0
    for bit in [*range(0, 8 * len(sound), 211), *range(8 * len(sound) - 500, 8 * len(sound))]:
        damaged = bytearray(sound)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(checksum.Damaged, match=r"a\.h5: damaged"):
            checksum.check_seal(path)
    for size in (0, 1, 60, len(sound) // 2, len(sound) - 1):
        path.write_bytes(sound[:size])
        with pytest.raises(checksum.Damaged, match="damaged"):
            checksum.check_seal(path)


def test_the_seal_is_xxh3_of_all_bytes_but_those_skipped(tmp_path: Path) -> None:
    path = tmp_path / "b"
    content = np.random.default_rng(0).bytes(3 * checksum.READ_BYTES + 17)
    path.write_bytes(content)
    assert checksum.of_file(path) == xxhash.xxh3_128(content).hexdigest()
    ranges = [(5, 100), (100, 200), (checksum.READ_BYTES, 2 * checksum.READ_BYTES + 3)]
    left = content[:5] + content[200 : checksum.READ_BYTES] + content[2 * checksum.READ_BYTES + 3 :]
    assert checksum.seal(path, ranges) == xxhash.xxh3_128(left).hexdigest() == checksum.seal_of(path)
    changed = bytearray(path.read_bytes())
    changed[50] ^= 1
    path.write_bytes(changed)
    checksum.check_seal(path, ranges)
    changed[4] ^= 1
    path.write_bytes(changed)
    with pytest.raises(checksum.Damaged):
        checksum.check_seal(path, ranges)


@given(
    st.integers(0, 10**9), st.sampled_from(["<f8", "<i8", "<f4", "|i1"]), st.sampled_from([(5,), (2, 3), (1, 0), ()])
)
def test_of_array_tells_values_types_and_shapes_apart(seed: int, dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(seed)
    values = np.asarray(rng.integers(-100, 100, shape), dtype=dtype)
    found = checksum.of_array(values)
    assert found == checksum.of_array(values.copy(order="F"))
    assert found != checksum.of_array(values.astype(">f8"))
    assert found != checksum.of_array(values[np.newaxis])
    if values.size:
        flipped = values.copy()
        flipped.reshape(-1).view(np.uint8)[int(rng.integers(values.nbytes))] ^= 1 << int(rng.integers(8))
        assert found != checksum.of_array(flipped)


def test_of_array_of_text_tells_where_strings_end() -> None:
    def of(*words: str) -> str:
        return checksum.of_array(np.array(words, dtype=object))

    assert of("ab", "c") != of("a", "bc")
    assert of("ä") == checksum.of_array(np.array(["ä".encode()], dtype=object))
