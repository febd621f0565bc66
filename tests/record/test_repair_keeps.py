"""What a repair keeps of points that the damaged segment said nothing of."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simlab.record.index import Index
from simlab.record.repair import repair
from simlab.record.segments import Checkpoint
from simlab.record.writer import Writer


def test_a_point_under_way_is_kept_where_its_first_commit_is_at_hand(tmp_path: Path) -> None:
    segments = tmp_path / "segments"
    segments.mkdir()
    wrote = Writer(segments, "abc", {})
    wrote.add(0, 0, {"loss": np.arange(4.0)})
    wrote.finish(0, 4)
    victim = wrote.commit({})
    assert victim is not None
    for point, commits in ((1, 1), (2, 2)):  # point 2 may have given a value once, in a segment that is gone
        for serial in range(1, commits + 1):
            wrote.add(point, 3 * (serial - 1), {"loss": np.arange(3.0)})
            wrote.commit({point: Checkpoint({"step": 3 * serial}, 3 * serial, 0, serial)})
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    repair(Writer(segments, "abc", {}), tmp_path / "damaged", 3, lambda point: {"once"})
    left = Index.read(segments, "abc", 3)
    assert left.finished == {}
    assert {point: at.reached.records for point, at in left.checkpoints.items()} == {1: 3}
    assert (tmp_path / "damaged" / victim.name).read_bytes() == content
