"""The ledger measures, keeps and resumes; claims hold and their controls are refused."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simlab import claims
from simlab.claims.claim import SHORT_COLUMNS
from simlab.claims.ledger import passed, read_ledger, reproduce, tally
from simlab.claims.tangent_rate import TangentRate
from simlab.core import catalogue
from simlab.record.reader import Results

Call = Callable[..., subprocess.CompletedProcess[str]]
DATA = Path(__file__).parents[2].parent / "shared" / "data"
"""Data that are not part of the project: claims about them are run where a developer has them."""
SAMPLE = ["mnist_depth", "relu_parity", "tangent_rate"]
"""Claims the tests reproduce: one with data, one that is quick, one with trajectories. The README's main command
reproduces them all, and fails where one does not hold or its control does."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    out = tmp_path_factory.mktemp("ledger")
    with pytest.MonkeyPatch.context() as patch:
        if DATA.is_dir() and "SIMLAB_DATA" not in os.environ:
            patch.setenv("SIMLAB_DATA", str(DATA))
        yield out, reproduce(map(claims.get, SAMPLE), "quick", out)


@pytest.mark.slow
def test_every_claim_holds_and_every_control_is_refused(tmp_path: Path) -> None:
    check_ledger(tmp_path, reproduce(map(claims.get, catalogue.names("claims")), "quick", tmp_path))


def test_claims_hold_and_controls_are_refused(ledger: tuple[Path, list[dict[str, Any]]]) -> None:
    check_ledger(*ledger)


def check_ledger(out: Path, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if claims.get(row["claim"]).data_needed():
            assert row["measured"].startswith("not run: "), row
            assert row["holds"] is row["control"] is None, row
            continue
        assert row["holds"] is True, row
        assert row["control"] == "refused", row
        home = out / "quick" / row["claim"]
        verdict = json.loads((home / "verdict.json").read_text())
        assert verdict["control"] == "refused"
        assert 0 < len(verdict["short"]) <= SHORT_COLUMNS, verdict["short"]
        assert verdict["numbers"]
        assert verdict["control_numbers"]
        assert (home / "figure.png").read_bytes().startswith(b"\x89PNG")
        assert (home / "measured" / "results.h5").exists()
        assert (home / "control" / "results.h5").exists()
    assert json.loads((out / "quick" / "ledger.json").read_text()) == rows


def test_the_command_resumes_and_prints_the_contract(ledger: tuple[Path, list[dict[str, Any]]], simlab: Call) -> None:
    out, rows = ledger
    segments = {path: path.stat().st_mtime_ns for path in out.rglob("segments/*.h5")}
    done = simlab("reproduce", *SAMPLE, "--quick", "-o", out, "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == rows
    assert list(rows[0]) == ["claim", "source", "statement", "expected", "measured", "holds", "control"]
    assert {path: path.stat().st_mtime_ns for path in out.rglob("segments/*.h5")} == segments, "nothing computed twice"
    for columns in (80, 200):
        lines = simlab("reproduce", *SAMPLE, "-o", out, env={"COLUMNS": str(columns)}).stdout.splitlines()
        assert len(lines) == len(SAMPLE) + 1, "one line per claim, and the tally"
        assert all(len(line) <= columns for line in lines[:-1])
        for row, line in zip(rows, lines, strict=False):
            mark, name, text = line.split(maxsplit=2)
            assert (mark, name) == ("–" if row["holds"] is None else "✓", row["claim"])
            assert text.startswith(row["measured"][:20]) or columns == 80
        assert lines[-1] == f"{tally(rows)}; figures and numbers in {out / 'quick'}"


@pytest.mark.parametrize(
    ("holds", "control", "good"),
    [
        (True, "refused", True),
        (None, None, True),
        (False, "refused", False),
        (True, "accepted", False),
        (False, "accepted", False),
        (True, None, False),
    ],
)
def test_what_counts_as_passed(holds: bool | None, control: str | None, good: bool) -> None:
    assert passed({"holds": holds, "control": control}) is good


def test_a_claim_with_failed_points_is_judged_false(tmp_path: Path) -> None:
    class Broken(TangentRate):
        quick = TangentRate.quick.replace("[64, 512, 4096]", "[64, 1000000000000]").replace("seeds = 5", "seeds = 1")
        control = ()

    rows = reproduce([Broken()], "quick", tmp_path)
    assert rows[0]["claim"] == "broken"
    assert rows[0]["holds"] is False
    assert "1 of 2 points failed: network.width=1000000000000" in rows[0]["measured"]


def test_a_ledger_with_true_and_false_is_understood(tmp_path: Path) -> None:
    """As it was written when `control` was whether the control held."""
    path, old = tmp_path / "ledger.json", [("a", True), ("b", False), ("c", None)]
    path.write_text(json.dumps([{"claim": c, "holds": h, "control": h, "measured": ""} for c, h in old]))
    assert [row["control"] for row in read_ledger(path)] == ["accepted", "refused", None]
    path.write_text(json.dumps(read_ledger(path)))
    assert [row["control"] for row in read_ledger(path)] == ["accepted", "refused", None]


def test_figures_are_drawn_from_the_file_alone(ledger: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    out, _ = ledger
    home = out / "quick" / "tangent_rate"
    copies = []
    for side in ("measured", "control"):
        (tmp_path / f"{side}.h5").write_bytes((home / side / "results.h5").read_bytes())
        copies.append(Results(tmp_path / f"{side}.h5"))
    figure = TangentRate().figure(*copies)
    assert len(figure.axes) == 3
    assert all(axis.get_xlabel() and axis.get_ylabel() for axis in figure.axes)
