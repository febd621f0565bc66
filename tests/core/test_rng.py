"""Named streams: what they depend on, and that their state survives exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.core.rng import Streams, dump_generator, load_generator


def test_a_stream_depends_on_seed_name_and_index_alone() -> None:
    base = Streams(7, 2)["data"].random(5)
    assert np.array_equal(base, Streams(7, 2)["data"].random(5))
    others = [Streams(8, 2)["data"], Streams(7, 3)["data"], Streams(7, 2)["init"], Streams(7, 2, {"a.b": 1})["data"]]
    for other in others:
        assert not np.any(base == other.random(5))


def test_order_of_use_does_not_matter() -> None:
    one, two = Streams(1), Streams(1)
    first = one["data"].random(3), one["init"].random(3)
    second = two["init"].random(3), two["data"].random(3)
    assert np.array_equal(first[0], second[1])
    assert np.array_equal(first[1], second[0])


def test_a_stream_goes_on_rather_than_starting_again() -> None:
    streams = Streams(1)
    assert not np.array_equal(streams["data"].random(3), streams["data"].random(3))


@given(st.integers(0, 2**128 - 1), st.integers(0, 10**6))
def test_any_seed_is_taken(seed: int, index: int) -> None:
    assert 0 <= Streams(seed, index)["x"].random() < 1


def test_streams_are_uniform_across_indices() -> None:
    """First draws of neighbouring indices are independent uniforms: mean within 4 standard errors, no correlation."""
    draws = np.array([Streams(0, index)["data"].random() for index in range(4000)])
    assert abs(draws.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 4000)
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(4000)


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"])
@given(skip=st.integers(0, 50))
def test_state_is_restored_exactly(bits: str, skip: int) -> None:
    generator = np.random.Generator(getattr(np.random, bits)(5))
    generator.standard_normal(skip)
    generator.integers(0, 10, dtype=np.uint32)  # leaves half of a 64-bit word behind
    copy = load_generator(dump_generator(generator))
    assert np.array_equal(generator.integers(0, 9, 7, dtype=np.uint32), copy.integers(0, 9, 7, dtype=np.uint32))
    assert np.array_equal(generator.standard_normal(20), copy.standard_normal(20))
