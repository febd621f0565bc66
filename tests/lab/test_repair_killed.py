"""A worker that dies while it repairs is replaced, as any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simlab.lab.options import RunOptions
from simlab.lab.pool import Pool
from simlab.lab.run import run_spec
from simlab.record.verify import verify_run

SPEC: dict[str, Any] = {
    "experiment": {"kind": "gradient_flow", "seed": 1, "samples": 10, "records": 2},
    "data": {"kind": "uniform_sphere", "dim": 5},
    "target": {"kind": "relu_teacher"},
    "network": {"kind": "two_layer", "width": 20},
    "flow": {"kind": "gradient_descent", "steps": 10, "step": 0.1},
    "sweep": {"seeds": 3},
}


def test_a_worker_killed_during_repair_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_spec(SPEC, tmp_path / "run", RunOptions(workers=1))
    sound = run_spec(SPEC, tmp_path / "sound", RunOptions(workers=1)).dataset.load()
    segment = min((tmp_path / "run" / "segments").glob("*.h5"))
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 4
    segment.write_bytes(content)
    spawned = []
    spawn = Pool._spawn

    def spawn_and_kill_the_first(self: Pool) -> None:
        spawn(self)
        spawned.append(self.workers[-1])
        if len(spawned) == 1:
            self.workers[-1].process.kill()

    monkeypatch.setattr(Pool, "_spawn", spawn_and_kill_the_first)
    outcome = run_spec(SPEC, tmp_path / "run", RunOptions(workers=1, repair=True))
    assert len(spawned) >= 2
    assert [path.read_bytes() for path in (tmp_path / "run" / "damaged").iterdir()] == [bytes(content)]
    assert verify_run(tmp_path / "run") == []
    assert outcome.dataset.load().equals(sound)
