"""Damage in segments and results.h5: found wherever it is read, in one line; never a wrong number."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import simlab
from simlab.core.errors import BadInput
from simlab.record import writer as writing
from simlab.record.checksum import Damaged, check_seal
from simlab.record.collate import Dimension, collate
from simlab.record.index import Index
from simlab.record.reader import Results
from simlab.record.schema import Output
from simlab.record.segments import Checkpoint, Segment
from simlab.record.verify import verify_run
from simlab.record.writer import Writer

OUTPUTS = {
    "loss": Output("loss", ("record",)),
    "rate": Output("given once"),
    "count": Output("given once", dtype="int8"),
}
DIMENSIONS = [
    Dimension("network.kind", 2, {"network.kind": ["a", "b"]}),
    Dimension("seed", 2, {"seed": [0, 1]}),
]
POINTS = 4


@pytest.fixture(autouse=True)
def _as_in_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of each part, which a small file's seal would come before."""
    monkeypatch.setattr("simlab.record.checksum.SMALL_BYTES", -1)


def commit(directory: Path, point: int, length: int, *, finish: bool = True, wrote: Writer | None = None) -> Path:
    wrote = wrote or Writer(directory, "abc", {"versions": "test"})
    rng = np.random.default_rng(point)
    wrote.add(point, 0, {"loss": rng.random(length)})
    wrote.add(point, -1, {"rate": rng.random(1), "count": np.int8([point])})
    if finish:
        wrote.finish(point, length)
    state = {"theta": rng.random((5, 3)), "rng": rng, "word": "α", "n": 3}
    path = wrote.commit({} if finish else {point: Checkpoint(state, length, 0, 1)})
    assert path is not None
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two finished points, one under way, one failed."""
    segments = tmp_path / "segments"
    segments.mkdir()
    commit(segments, 0, 6)
    commit(segments, 1, 7)
    commit(segments, 2, 5, finish=False)
    wrote = Writer(segments, "abc", {"versions": "test"})
    wrote.fail(3, 0, "ValueError: no\0 \ud800", "Traceback …")
    wrote.commit({})
    collate(
        tmp_path / "results.h5", Index.read(segments, "abc"), DIMENSIONS, OUTPUTS, {"spec": "x", "spec_hash": "a hash"}
    )
    return tmp_path


def flips(path: Path, count: int) -> Iterator[int]:
    """The file with one changed bit at a time; sound again at the end."""
    sound = path.read_bytes()
    chosen = random.Random(5).sample(range(8 * len(sound)), count)
    for bit in chosen:
        damaged = bytearray(sound)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        yield bit
    path.write_bytes(sound)


def everything(segment: Segment) -> str:
    """All that a segment says, columns aside."""
    states = {
        p: {k: repr(v) for k, v in segment.checkpoint(p).state.items() if k != "rng"} for p in segment.checkpoints
    }
    tables = [(t.group, t.signature, t.blocks.tolist()) for t in segment.tables]
    found = (segment.finished, segment.failed, segment.checkpoints, sorted(segment.provenance), segment.level)
    return repr((found, tables, states, sorted(segment.replaces), segment.spec_hash))


def test_a_flipped_bit_is_refused_or_in_what_is_not_read(run: Path) -> None:
    """Any changed bit: the index and the checkpoints are as written or refused; the seal finds every one."""
    refused = 0
    for path in Index.files(run / "segments"):
        wanted = everything(Segment.read(path))
        for bit in flips(path, 50):
            try:
                segment = Segment.read(path)
                assert everything(segment) == wanted, bit
            except Damaged:
                refused += 1
            with pytest.raises(Damaged, match=rf"{path.name}.*simlab resume --repair {run}"):
                Segment.read(path).check_whole()
            assert len(verify_run(run)) == 1, bit
        Segment.read(path).check_whole()
    assert refused > 30, "the flips hit nothing that is read"
    assert verify_run(run) == []


@pytest.mark.parametrize(("before", "after"), [(b"abc", b"abd"), (b'"n": 3', b'"n": 7'), (b"test", b"tesu")])
def test_a_changed_attribute_is_found(run: Path, before: bytes, after: bytes) -> None:
    """The hash of the spec, a number of a checkpoint, who made it."""
    segment = next(s for s in Index.read(run / "segments", "abc").segments if 2 in s.checkpoints)
    content = segment.path.read_bytes()
    assert content.count(before) == 1
    segment.path.write_bytes(content.replace(before, after))
    with pytest.raises(Damaged, match="damaged: not a whole segment"):  # HDF5 has a checksum of where they lie
        Segment.read(segment.path)


def test_an_attribute_that_was_written_anew_is_found(run: Path) -> None:
    segment = next(s for s in Index.read(run / "segments", "abc").segments if 2 in s.checkpoints)
    with h5py.File(segment.path, "r+") as file:
        file["checkpoints/2"].attrs["records"] += 1
    with pytest.raises(Damaged, match="the checksum of the attributes of"):
        Segment.read(segment.path)


def test_a_flipped_bit_of_a_row_never_reaches_results(run: Path) -> None:
    segment = next(s for s in Index.read(run / "segments", "abc").segments if 0 in s.finished)
    with h5py.File(segment.path) as file:
        at = file[
            "tables/0/columns/loss" if "loss" in file["tables/0/columns"] else "tables/1/columns/loss"
        ].id.get_offset()
    content = bytearray(segment.path.read_bytes())
    content[at + 9] ^= 4
    segment.path.write_bytes(content)
    index = Index.read(run / "segments", "abc")
    before = (run / "results.h5").read_bytes()
    with pytest.raises(Damaged, match=segment.path.name):
        collate(run / "results.h5", index, DIMENSIONS, OUTPUTS, {})
    assert (run / "results.h5").read_bytes() == before
    (line,) = verify_run(run)
    assert segment.path.name in line


def test_merging_leaves_a_damaged_part_alone_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "segments").mkdir()
    said: list[str] = []
    wrote = Writer(tmp_path / "segments", "abc", {}, said.append)
    first = commit(tmp_path / "segments", 0, 5, wrote=wrote)
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    for point in range(1, writing.MERGE_SEGMENTS + 1):
        commit(tmp_path / "segments", point, 5, wrote=wrote)
    assert first.read_bytes() == content
    assert len(said) == 1
    assert first.name in said[0]
    assert "resume --repair" in said[0]
    live = [Segment.read(path) for path in Index.files(tmp_path / "segments") if path != first]
    assert sorted(p for segment in live for p in segment.finished) == list(range(1, writing.MERGE_SEGMENTS + 1))
    assert len(live) == 1, "the sound ones are merged without it"
    assert first.name not in live[0].replaces


def test_columns_in_parts_have_the_checksum_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written at once, in slices or merged: `of_array` of what h5py reads back is what the file claims."""
    from simlab.record.checked import claimed
    from simlab.record.checksum import of_array

    monkeypatch.setattr(writing, "COPY_BYTES", 64)
    (tmp_path / "s").mkdir()
    wrote = Writer(tmp_path / "s", "abc", {})
    for i in range(writing.MERGE_SEGMENTS):
        for point in range(5):
            wrote.add(point, 3 * i, {"loss": np.random.default_rng(i).random((3, 4)), "n": np.arange(3, dtype=np.int8)})
        wrote.commit({})
    (path,) = Index.files(tmp_path / "s")
    seen = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: seen.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in seen:
            assert claimed(file[name]) == of_array(file[name][()]), name
    assert sorted(seen) == ["tables/0/blocks", "tables/0/columns/loss", "tables/0/columns/n"]


def of_format_1(path: Path, point: int, rows: Any) -> None:
    """A segment as simlab wrote it before there were checksums."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"simlab_segment": 1, "spec_hash": "abc", "level": 0, "replaces": "[]", "provenance": "[]"})
        file["tables/0/blocks"] = np.array([[point, 0, len(rows)]])
        file["tables/0/columns/loss"] = rows
        group = file.create_group(f"checkpoints/{point}")
        group["theta"] = np.arange(3.0)
        group.attrs.update({"attempt": 0, "serial": 1, "records": len(rows), "scalars": '{"n": 2}'})


def test_segments_of_format_1_are_read_merged_and_collated(tmp_path: Path) -> None:
    segments = tmp_path / "segments"
    segments.mkdir()
    of_format_1(segments / "000000000000-000000.h5", 0, np.array([1.5, 2.5]))
    wrote = Writer(segments, "abc", {})
    commit(segments, 1, 3, wrote=wrote)
    index = Index.read(segments, "abc", POINTS)
    assert [segment.format for segment in index.segments] == [1, 2]
    wrote.merge(index.segments, 1)
    index = Index.read(segments, "abc", POINTS)
    assert [segment.format for segment in index.segments] == [2]
    index.check_whole()
    state = index.checkpoints[0].segment.checkpoint(0).state
    assert state["theta"].tolist() == [0.0, 1.0, 2.0]
    assert state["n"] == 2
    collate(tmp_path / "results.h5", index, DIMENSIONS, OUTPUTS, {})
    assert Results(tmp_path / "results.h5")["loss"][0, 0, :2].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: f.attrs.__setitem__("level", -1), "level of / is no count"),
        (lambda f: f.attrs.__setitem__("replaces", "{}"), "no list of names"),
        (lambda f: f.attrs.__setitem__("replaces", '["../x.h5"]'), "claims to replace what is no segment"),
        (lambda f: f.attrs.__setitem__("replaces", "[" * 100_000), "not a whole segment"),
        (lambda f: f.attrs.__setitem__("provenance", 3), "provenance of / is no text"),
        (lambda f: f["tables/0/blocks"].__setitem__((0, 0), -7), "no list of blocks"),
        (lambda f: f["tables/0/blocks"].__setitem__((0, 0), 99), "it tells of point 99, and there are 4"),
        (lambda f: f["tables/0/blocks"].__setitem__((0, 2), 1 << 62), "other rows than its blocks say"),
        (lambda f: f.__delitem__("tables/0/columns/loss"), "other rows"),
        (lambda f: f.create_dataset("finished", data=[1.5]), "finished is no list of points"),
        (lambda f: f.create_dataset("finished", shape=(1 << 40, 2), dtype="i8"), "finished is larger than the file"),
        (lambda f: f.create_group("failed"), "is not a dataset"),
        (lambda f: f.create_dataset("failed", data=[[0, 0]]), "not a whole segment"),
        (lambda f: f["checkpoints"].create_group("x"), "not a whole segment"),
    ],
)
def test_whatever_a_foreign_segment_holds_it_is_one_line(tmp_path: Path, change: Any, says: str) -> None:
    """Format 1 has no checksums: what it holds is checked by itself."""
    path = tmp_path / "segments" / "000000000000-000000.h5"
    path.parent.mkdir()
    of_format_1(path, 0, np.ones(2))
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(Damaged, match=says) as caught:
        Index.read(path.parent, "abc", POINTS)
    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)


def crafted(directory: Path, names: list[str], level: int, content: Any = None) -> Path:
    """A whole, sealed segment that claims to replace others."""
    wrote = Writer(directory, "abc", {})
    wrote.token = "ffffffffffff"
    wrote.fail(0, 5, "e", "t")
    path = wrote.commit({})
    assert path is not None
    segment = Segment.read(path)

    class Claims:
        def __init__(self, name: str) -> None:
            self.path, self.provenance = Path(name), frozenset(["{}"])

    path.unlink()
    with wrote._new_segment(level, [Claims(name) for name in names]) as (path, file):  # type: ignore[misc, list-item]
        writing.dump_marks(file, {}, segment.failed)
    return path


@pytest.mark.parametrize("level", [0, 1])
def test_a_crafted_replaces_removes_nothing(run: Path, level: int) -> None:
    victim = next(s.path for s in Index.read(run / "segments", "abc").segments if 0 in s.finished)
    path = crafted(run / "segments", [victim.name], level)
    with pytest.raises(Damaged, match=rf"{path.name}.*claims to replace {victim.name}, whose rows it does not hold"):
        Index.read(run / "segments", "abc")
    assert victim.exists()
    assert len(verify_run(run)) == 1


def test_a_merge_that_was_cut_short_is_proved_by_its_rows(run: Path) -> None:
    """The counterpart: parts of a true merge are known as replaced, and only they."""
    segments = run / "segments"
    parts = Index.read(segments, "abc").segments
    kept = {part.path: part.path.read_bytes() for part in parts}
    Writer(segments, "abc", {}).merge(parts, 1)
    for path, content in kept.items():
        path.write_bytes(content)
    index = Index.read(segments, "abc", POINTS)
    assert set(index.replaced) == set(kept) == index.removable
    assert len(index.segments) == 1
    assert verify_run(run) == []


def test_a_flipped_bit_of_results_is_never_a_wrong_value(run: Path) -> None:
    path = run / "results.h5"
    sound = Results(path)
    wanted = {name: sound[name].tobytes() if sound[name].dtype != object else sound[name].tolist() for name in sound}
    assert len(wanted) == 9
    refused = 0
    for bit in flips(path, 120):
        try:
            found = Results(path)
            names = set(found)
            for name in names:
                values = found[name]
                assert (values.tobytes() if values.dtype != object else values.tolist()) == wanted[name], (bit, name)
            assert names == set(wanted)
        except Damaged:
            refused += 1
        (line,) = verify_run(run)
        assert "results.h5" in line
    assert refused > 12
    assert verify_run(run) == []


def test_text_in_results_is_covered(run: Path) -> None:
    """Text lies in HDF5's global heap, which has no checksum."""
    path = run / "results.h5"
    content = path.read_bytes()
    at = content.index(b"ValueError: no")
    path.write_bytes(content[:at] + b"W" + content[at + 1 :])
    (run / "spec.toml").write_text("")
    with pytest.raises(Damaged, match=rf"the checksum of /error differs.*simlab collate {run}"):
        Results(path)["error"]
    with pytest.raises(Damaged, match="the checksum of /error differs"):
        simlab.open(path)
    assert Results(path)["loss"].shape == (2, 2, 7), "the rest can be read"


def test_the_spec_in_results_is_covered(run: Path) -> None:
    path = run / "results.h5"
    with h5py.File(path) as file:
        assert file.attrs["spec_hash"] == "a hash"
    content = path.read_bytes()
    assert content.count(b"a hash") == 1
    path.write_bytes(content.replace(b"a hash", b"a bash"))
    with pytest.raises(Damaged, match="the checksum of the attribute spec_hash differs"):
        Results(path).attrs  # noqa: B018  reads


def test_results_changed_by_a_user_still_open(run: Path) -> None:
    with h5py.File(run / "results.h5", "r+") as file:
        file.attrs["note"] = "mine"
    assert Results(run / "results.h5").attrs["note"] == "mine"
    with simlab.open(run) as data:
        assert data["loss"].shape == (2, 2, 7)
    with pytest.raises(BadInput):
        check_seal(run / "results.h5")


def test_results_name_their_segments_and_every_number_has_a_checksum(run: Path) -> None:
    index = Index.read(run / "segments", "abc")
    with h5py.File(run / "results.h5") as file:
        assert json.loads(file.attrs["segments"]) == [[s.path.name, check_seal(s.path)] for s in index.segments]
        for name, item in file.items():
            if isinstance(item, h5py.Dataset):
                assert item.fletcher32 or "checksum" in item.attrs, name
