"""Segments: what is written is read back exactly; merging loses nothing; a bad file is named and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.core.errors import BadInput, WriteFailed
from simlab.record import atomic, writer
from simlab.record.index import Index, Status
from simlab.record.segments import Checkpoint, Segment
from simlab.record.writer import Writer


def new_writer(directory: Path) -> Writer:
    directory.mkdir(exist_ok=True)
    return Writer(directory, "abc", {"versions": "test"})


def rows(first: int, count: int) -> dict[str, np.ndarray[Any, Any]]:
    return {"loss": np.arange(first, first + count, dtype=float), "w": np.ones((count, 3), dtype=np.float32)}


def test_a_checkpoint_comes_back_bit_for_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    state = {
        "theta": rng.standard_normal((3, 4)), "tiny": np.array([5e-324, -0.0, np.nan, np.inf]), "step": 10**15,
        "rate": 0.1, "flag": True, "name": "α", "scalar": np.float32(0.3), "rng": np.random.default_rng(5),
        "empty": np.empty((0, 2)), "mask": np.array([True, False]),
    }  # fmt: skip
    expected = np.random.default_rng(5).random(4)
    path = new_writer(tmp_path / "s").commit({7: Checkpoint(state, records=3, attempt=1, serial=2)})
    assert path is not None
    back = Segment.read(path).checkpoint(7)
    assert (back.records, back.attempt, back.serial) == (3, 1, 2)
    assert np.array_equal(back.state.pop("rng").random(4), expected)
    state.pop("rng")
    assert set(back.state) == set(state)
    for key, value in state.items():
        assert np.asarray(back.state[key]).tobytes() == np.asarray(value).tobytes(), key
        assert type(back.state[key]) is type(value)


def test_a_state_that_would_not_resume_exactly_is_refused(tmp_path: Path) -> None:
    fortran = {"theta": np.asfortranarray(np.ones((3, 4)))}
    with pytest.raises(ValueError, match="C-contiguous"):
        new_writer(tmp_path / "s").commit({0: Checkpoint(fortran, 0, 0, 1)})
    with pytest.raises(TypeError, match="list"):
        new_writer(tmp_path / "s").commit({0: Checkpoint({"x": [1, 2]}, 0, 0, 1)})
    assert not list((tmp_path / "s").iterdir()), "nothing half-written may stay"


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), max_size=6), min_size=1, max_size=30))
def test_merging_keeps_every_row_and_the_newest_checkpoint(
    tmp_path_factory: pytest.TempPathFactory, commits: list[list[tuple[int, int]]]
) -> None:
    """Any sequence of commits: after it each point has its rows 0 … n−1 once, and its last checkpoint."""
    directory = tmp_path_factory.mktemp("merge")
    wrote = new_writer(directory)
    have = dict.fromkeys(range(5), 0)
    serial = dict.fromkeys(range(5), 0)
    for commit in commits:
        for point, count in commit:
            wrote.add(point, have[point], rows(have[point], count))
            have[point] += count
        touched = {point for point, _ in commit}
        for point in touched:
            serial[point] += 1
        state = {point: Checkpoint({"n": have[point]}, have[point], 0, serial[point]) for point in touched}
        wrote.commit(state)
    index = Index.read(directory, "abc")
    index.check_rows(5)
    assert not index.replaced
    assert len(index.segments) <= writer.MERGE_SEGMENTS * 3
    for point, at in index.checkpoints.items():
        assert at.reached.records == have[point]
        assert at.segment.checkpoint(point).state["n"] == have[point]
    total = sum(table.rows for segment in index.segments for table in segment.tables)
    assert total == sum(have.values())
    for segment in index.segments:
        with h5py.File(segment.path) as file:
            for table in segment.tables:
                loss = file[f"{table.group}/columns/loss"][()]
                wanted = [np.arange(first, first + count) for _, first, count in table.blocks]
                assert np.array_equal(loss, np.concatenate(wanted))


def test_a_merge_cut_short_before_the_parts_are_gone_counts_rows_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrote = new_writer(tmp_path / "s")
    kept = {}
    for i in range(writer.MERGE_SEGMENTS):
        kept |= {path.name: path.read_bytes() for path in (tmp_path / "s").iterdir()}
        wrote.add(0, 2 * i, rows(2 * i, 2))
        wrote.commit({0: Checkpoint({"n": i}, 2 * i + 2, 0, i + 1)})
    assert len(list((tmp_path / "s").iterdir())) == 1
    for name, content in kept.items():
        (tmp_path / "s" / name).write_bytes(content)
    index = Index.read(tmp_path / "s", "abc")
    assert len(index.segments) == 1
    assert {path.name for path in index.replaced} == set(kept)
    index.check_rows(1)


def test_the_rows_of_a_failed_point_go_back_to_its_last_commit(tmp_path: Path) -> None:
    wrote = new_writer(tmp_path / "s")
    wrote.add(0, 0, rows(0, 2))
    wrote.commit({0: Checkpoint({}, 2, 0, 1)})
    wrote.add(0, 2, rows(2, 5))
    wrote.add(1, 0, rows(0, 1))
    wrote.fail(0, 0, "ValueError: no", "Traceback …")
    wrote.finish(1, 1)
    wrote.commit({})
    index = Index.read(tmp_path / "s", "abc")
    assert index.lengths(3).tolist() == [2, 1, 0]
    assert index.status(3).tolist() == [Status.FAILED, Status.FINISHED, Status.PENDING]
    assert index.failed[0] == (0, "ValueError: no", "Traceback …")
    index.check_rows(3)


def test_a_point_taken_up_again_is_no_longer_failed(tmp_path: Path) -> None:
    wrote = new_writer(tmp_path / "s")
    wrote.fail(0, 0, "e", "t")
    wrote.commit({})
    wrote.commit({0: Checkpoint({}, 0, 1, 1)})
    assert Index.read(tmp_path / "s", "abc").status(1).tolist() == [Status.UNFINISHED]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_segment_is_named_and_refused(tmp_path: Path, share: float) -> None:
    wrote = new_writer(tmp_path / "s")
    wrote.add(0, 0, rows(0, 1000))
    path = wrote.commit({})
    assert path is not None
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(BadInput, match=f"{path.name}.*truncated or foreign"):
        Index.read(tmp_path / "s", "abc")


def test_foreign_files_are_named_and_refused(tmp_path: Path) -> None:
    new_writer(tmp_path / "s").commit({0: Checkpoint({}, 0, 0, 1)})
    with pytest.raises(BadInput, match="another spec"):
        Index.read(tmp_path / "s", "other")
    (tmp_path / "s" / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"notes\.txt: not a segment"):
        Index.read(tmp_path / "s", "abc")
    (tmp_path / "s" / "notes.txt").unlink()
    with h5py.File(tmp_path / "s" / "0123456789ab-000000.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(BadInput, match=r"0123456789ab-000000\.h5: damaged: not a whole segment"):
        Index.read(tmp_path / "s", "abc")


def test_rows_that_were_committed_and_are_gone_are_noticed(tmp_path: Path) -> None:
    wrote = new_writer(tmp_path / "s")
    paths = []
    for i in range(3):
        wrote.add(4, 2 * i, rows(2 * i, 2))
        paths.append(wrote.commit({4: Checkpoint({}, 2 * i + 2, 0, i + 1)}))
    assert paths[1] is not None
    paths[1].unlink()
    with pytest.raises(BadInput, match="record 2 of point 4 is missing"):
        Index.read(tmp_path / "s", "abc").check_rows(5)


def test_columns_of_unequal_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unequal length"):
        new_writer(tmp_path / "s").add(0, 0, {"a": np.ones(2), "b": np.ones(3)})


def test_a_failed_write_leaves_nothing_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    wrote = new_writer(tmp_path / "s")
    wrote.add(0, 0, rows(0, 10))
    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(WriteFailed, match="No space left on device"):
        wrote.commit({})
    assert not list((tmp_path / "s").iterdir())
    monkeypatch.undo()
    assert wrote.commit({}) is not None, "the rows are still there to be committed once there is room"
