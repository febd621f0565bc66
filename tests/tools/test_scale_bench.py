"""The bench of very many points, at a size of few: every figure is there, and a failing command ends it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "bench"))

import scale

from simlab.lab.spec import resolve


@pytest.mark.parametrize(("sizes", "points"), [((7,), 7), ((4, 3), 12)])
def test_the_specs_have_the_points_they_should(sizes: tuple[int, ...], points: int) -> None:
    assert resolve(tomllib.loads(scale.spec_text(sizes))).sweep.points == points


def test_every_figure_is_measured(tmp_path: Path) -> None:
    found = scale.measure(tmp_path, (3, 2), 1, 1)
    assert found["points"] == 6
    assert found["run"]["ms_per_point"] > 0
    assert found["run"]["parent_mb"] > 10
    assert found["run"]["worker_mb"] > 10
    assert found["files"] >= 3
    for name in ("dry_run", "status", "show", "resume_of_finished", "collate"):
        assert found[name]["seconds"] > 0, name
    assert found["opening"]["Results"] > 0
    assert found["status"]["goal_met"] is (found["status"]["seconds"] < scale.GOAL_SECONDS)


def test_a_command_that_fails_ends_it() -> None:
    with pytest.raises(SystemExit, match="exit code 3"):
        scale.watch(["-c", "import sys; sys.exit(3)"])
