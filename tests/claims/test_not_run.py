"""Claims about data that are not there: judged neither true nor false, and nothing measured earlier is lost."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure as Picture

from simlab.claims import Claim, Judgement
from simlab.claims.ledger import reproduce, tally
from simlab.cli._reproduce import reproduce as command
from simlab.core import catalogue
from simlab.figures.style import panels
from simlab.record.reader import Results

SPEC = """
[experiment]
kind = "spectrum"
seed = 1
dim = 3
max_degree = 4
[kernel]
kind = "gaussian"
c = 1.0
"""


class Needy(Claim):
    """A claim about data in a directory."""

    statement = "s"
    source = "[S0]"
    expected = "e"
    quick = full = SPEC
    control = ("kernel.c=2.0",)
    path: ClassVar[Path]

    def data_needed(self) -> str | None:
        return None if self.path.exists() else f"give --data DIR with {self.path.name}"

    def judge(self, results: Results) -> Judgement:
        return Judgement(bool(results["trace"] > 0 and "c = 1" in results.attrs["spec"]), "m", {"a": 1})

    def figure(self, results: Results, control: Results) -> Picture:
        return panels(1)[0]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is not there yet, and among the claims one that needs it."""
    point = EntryPoint("needy", f"{__name__}:Needy", "simlab.claims")
    monkeypatch.setattr(catalogue, "added", lambda room: {"needy": point} if room == "claims" else {})
    monkeypatch.setattr(Needy, "path", tmp_path / "data", raising=False)
    return tmp_path / "data"


def test_without_its_data_a_claim_is_not_run_and_with_them_it_is(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "ledger"
    ledger, verdict = out / "quick" / "ledger.json", out / "quick" / "needy" / "verdict.json"
    absent = reproduce([Needy()], "quick", out)[0]
    assert absent["holds"] is None
    assert absent["control"] is None
    assert absent["measured"] == "not run: give --data DIR with data"
    assert json.loads(ledger.read_text()) == [absent]
    assert json.loads(verdict.read_text())["holds"] is None
    assert not (out / "quick" / "needy" / "measured").exists()

    data.mkdir()
    given = reproduce([Needy()], "quick", out)[0]
    assert (given["holds"], given["control"]) == (True, "refused")
    assert json.loads(ledger.read_text()) == [given]
    measured = json.loads(verdict.read_text())
    assert measured["numbers"] == {"a": 1}
    assert reproduce([Needy()], "quick", out, figure_format="svg") == [given]
    assert (out / "quick" / "needy" / "figure.svg").read_bytes().startswith(b"<?xml")
    assert (out / "quick" / "needy" / "figure.png").read_bytes().startswith(b"\x89PNG")

    data.rmdir()  # the row says what happened this time; what was measured stays
    kept = absent | {"measured": f"{absent['measured']}; the verdict measured earlier is kept"}
    assert reproduce([Needy()], "quick", out, overwrite=True) == [kept]
    assert json.loads(ledger.read_text()) == [given]
    assert json.loads(verdict.read_text()) == measured
    assert (out / "quick" / "needy" / "measured" / "results.h5").exists()


def test_the_command_says_not_run_and_does_not_fail(data: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["needy", "-o", str(tmp_path / "out")], env={"COLUMNS": "160"})
    assert done.exit_code == 0
    line, last = done.stdout.splitlines()
    assert line.split(maxsplit=2) == ["–", "needy", "not run: give --data DIR with data"]
    assert last == f"0 of 1 claims hold, 1 not run; figures and numbers in {tmp_path / 'out' / 'quick'}"
    rows = json.loads(CliRunner().invoke(command, ["needy", "-q", "--json", "-o", str(tmp_path / "out")]).stdout)
    assert rows[0]["holds"] is None


def test_a_damaged_verdict_is_written_again(data: Path, tmp_path: Path) -> None:
    verdict = tmp_path / "quick" / "needy" / "verdict.json"
    verdict.parent.mkdir(parents=True)
    verdict.write_text("[")
    reproduce([Needy()], "quick", tmp_path)
    assert json.loads(verdict.read_text())["holds"] is None


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        ([(True, "refused"), (True, "refused")], "2 of 2 claims hold"),
        ([(True, "refused"), (None, None)], "1 of 2 claims hold, 1 not run"),
        ([(True, "accepted"), (None, None), (False, "refused")], "0 of 3 claims hold, 1 not run"),
    ],
)
def test_the_tally_is_honest(verdicts: list[tuple[bool | None, str | None]], says: str) -> None:
    assert tally([{"holds": holds, "control": control} for holds, control in verdicts]) == says
