"""The tool that kills simlab says so when something is lost, differs or fails, and nothing where all is well."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import kill_sweep
from kills.collate import Collate
from kills.gram import ROWS, Gram
from kills.process import Command, Violation
from kills.repair import Repair, flip
from kills.reproduce import Reproduce
from kills.sweep import SPEC, Sweep
from kills.work import Work, datasets, same_datasets

from simlab.lab.options import RunOptions
from simlab.lab.run import run_spec

# Counts to ten in a file; each count is committed. "forgetful" begins anew after a kill, "wrong" counts one too far.
TOY = """
import os, sys, time
kind, path = sys.argv[1:]
done = int(open(path).read()) if os.path.exists(path) else 0
if kind == "forgetful" and done > 3:
    done = 0
for i in range(done + 1, 11 + (kind == "wrong")):
    open(path + ".tmp", "w").write(str(i))
    os.replace(path + ".tmp", path)
    time.sleep(0.02)
if kind == "failing":
    sys.exit("simlab: cannot")
if kind == "noisy":
    print("Traceback (most recent call last):", file=sys.stderr)
"""


class Toy(Work):
    name = "toy"
    compared = "the count"
    kind = "sound"

    def prepare(self) -> None:
        self.life_seconds = 0.3

    def begin(self, chance: random.Random) -> None:
        self.place.mkdir()
        self.before = 0

    def command(self, chance: random.Random) -> list[str]:
        return [self.kind, str(self.place / "count")]

    def check(self) -> int:
        path = self.place / "count"
        now = int(path.read_text()) if path.exists() else 0
        if now < self.before:
            raise Violation("lost", f"{self.before} was counted, now {now}")
        self.before = now
        return now

    def compare(self) -> int:
        if self.before != 10:
            raise Violation("differing", f"{self.before} is not 10")
        return 1


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call the tool's `main` on the toy: exit code and what it printed."""
    monkeypatch.setattr(Command, "program", [sys.executable, "-c", TOY])
    monkeypatch.setattr(kill_sweep, "KINDS", {"toy": Toy})

    def call(kind: str, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, dict[str, Any]]:
        monkeypatch.setattr(Toy, "kind", kind)
        monkeypatch.setattr(sys, "argv", ["kill_sweep.py", "--work", "toy", *arguments])
        try:
            kill_sweep.main()
            said = ""
        except SystemExit as error:
            said = str(error)
        found = json.loads(capsys.readouterr().out)
        if found["violation"]:
            shutil.rmtree(found["violation"]["files"])
        return said, found

    return call


def test_sound_work_passes(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    said, found = toy("sound", capsys, "--kills", "8")
    assert said == ""
    assert found["kills"] == 8
    assert found["with_committed"] > 0
    assert (found["lost"], found["differing"], found["failing"]) == (0, 0, 0)
    assert found["work"]["toy"]["compared"] == found["work"]["toy"]["rounds"] > 0


@pytest.mark.parametrize(
    ("kind", "violation"), [("forgetful", "lost"), ("wrong", "differing"), ("failing", "failing"), ("noisy", "failing")]
)
def test_a_planted_violation_is_said_with_its_seed(
    toy: Any, capsys: pytest.CaptureFixture[str], kind: str, violation: str
) -> None:
    said, found = toy(kind, capsys, "--kills", "60", "--seed", "70")
    assert said.startswith("VIOLATION: ")
    assert found[violation] == 1
    assert found["violation"]["kind"] == violation
    assert found["violation"]["seed"] >= 70
    assert f"--work toy --seed {found['violation']['seed']}" in said


def test_kills_are_spread_over_the_time(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = toy("sound", capsys, "--kills", "4", "--minutes", "0.05")
    assert found["kills"] == 4
    assert found["minutes"] >= 0.05 * 2 / 4  # the first kills are due at once, the last but one after half of it


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, small."""
    home = tmp_path_factory.mktemp("runs")
    spec = home / "spec.toml"
    spec.write_text(SPEC.partition("[figure]")[0].format(steps=20), encoding="utf-8")
    run_spec(spec, home / "run", RunOptions(workers=1))
    return home / "run"


def work_on(kind: type[Work], home: Path, run: Path) -> Any:
    """A kind of work whose killed place holds `run`."""
    work: Any = kind(home, 1, 20)
    shutil.copytree(run, work.place)
    return work


def change(results: Path) -> None:
    """Drop one row: the last record of one point reads as missing."""
    with h5py.File(results, "r+") as file:
        file["train_loss"][0, 0, 0, -1] = np.nan


def test_texts_are_compared_by_what_they_say(tmp_path: Path) -> None:
    for name, texts in (("a", ["x", "y"]), ("b", ["x", "y"]), ("c", ["x", "z"])):
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("target", data=texts, dtype=h5py.string_dtype())
    assert same_datasets(tmp_path / "a", tmp_path / "b") == 1
    with pytest.raises(Violation, match="target differs"):
        same_datasets(tmp_path / "a", tmp_path / "c")


class TestSweep:
    @pytest.fixture
    def sweep(self, tmp_path: Path, finished: Path) -> Any:
        sweep = work_on(Sweep, tmp_path, finished)
        sweep.facts["most_segments"], sweep.before = 0, {}
        sweep.reference, sweep.whole = finished, datasets(finished / "results.h5")
        for place in (finished, sweep.place):
            (place / "figure.png").write_bytes(b"figure")
        return sweep

    def test_sound(self, sweep: Any) -> None:
        assert sweep.check() == 12
        assert sweep.check() == 12
        assert sweep.compare() > 5

    def test_a_lost_segment(self, sweep: Any) -> None:
        sweep.check()
        for path in (sweep.place / "segments").glob("*.h5"):
            path.unlink()
        with pytest.raises(Violation, match="were committed and are gone"):
            sweep.check()

    def test_a_dropped_row(self, sweep: Any) -> None:
        change(sweep.place / "results.h5")
        with pytest.raises(Violation, match="train_loss differs"):
            sweep.compare()

    def test_another_figure(self, sweep: Any) -> None:
        (sweep.place / "figure.png").write_bytes(b"fig")
        for see in (sweep.look, sweep.compare):
            with pytest.raises(Violation, match="figure"):
                see()

    def test_a_wrong_number_while_it_runs(self, sweep: Any) -> None:
        sweep.look()
        with h5py.File(sweep.place / "results.h5", "r+") as file:
            file["train_loss"][1, 0, 0, 3] = 0.125
        with pytest.raises(Violation, match="train_loss of an unfinished run differs"):
            sweep.look()

    def test_a_sound_file_called_damaged(self, sweep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("kills.work.verify_run", lambda directory: ["x.h5: damaged"])
        with pytest.raises(Violation, match="called damaged"):
            sweep.check()


class TestCollate:
    @pytest.fixture
    def collate(self, tmp_path: Path, finished: Path) -> Any:
        collate = work_on(Collate, tmp_path, finished)
        collate.old = collate.new = finished
        collate.held = False
        return collate

    def test_results_that_vanish(self, collate: Any) -> None:
        assert collate.check() == 1
        (collate.place / "results.h5").unlink()
        with pytest.raises(Violation, match="was there and is gone"):
            collate.check()

    def test_results_of_neither_state(self, collate: Any) -> None:
        change(collate.place / "results.h5")
        with pytest.raises(Violation, match="differs"):
            collate.look()


class TestRepair:
    @pytest.fixture
    def repair(self, tmp_path: Path, finished: Path) -> Any:
        repair = work_on(Repair, tmp_path, finished)
        repair.whole = finished
        victim = next((repair.place / "segments").glob("*.h5"))
        repair.victim, repair.before = victim.name, {}
        flip(victim, random.Random(1))
        repair.damaged = victim.read_bytes()
        return repair

    def test_not_set_aside_yet(self, repair: Any) -> None:
        assert repair.check() == 0

    def test_a_damaged_file_that_is_deleted(self, repair: Any) -> None:
        (repair.place / "segments" / repair.victim).unlink()
        with pytest.raises(Violation, match="is not kept"):
            repair.check()


class TestReproduce:
    @pytest.fixture
    def ledger(self, tmp_path: Path, finished: Path) -> Any:
        ledger = Reproduce(tmp_path, 1, 20)
        for place in (ledger.place, ledger.reference):
            shutil.copytree(finished, place / "quick" / "claim" / "measured")
            (place / "quick" / "ledger.json").write_text('[{"claim": "claim", "holds": true}]')
        ledger.runs = [Path("quick/claim/measured")]
        ledger.before, ledger.judged = {}, {}
        return ledger

    def test_sound(self, ledger: Any) -> None:
        assert ledger.check() == 12
        assert ledger.compare() > 5

    def test_another_verdict(self, ledger: Any) -> None:
        (ledger.place / "quick" / "ledger.json").write_text('[{"claim": "claim", "holds": false}]')
        with pytest.raises(Violation, match="differs"):
            ledger.compare()

    @pytest.mark.parametrize("text", [None, '[{"claim": "cl'])
    def test_a_verdict_that_is_lost(self, ledger: Any, text: str | None) -> None:
        ledger.check()
        path = ledger.place / "quick" / "ledger.json"
        path.unlink() if text is None else path.write_text(text)
        with pytest.raises(Violation, match="cannot be read"):
            ledger.check()


class TestGram:
    @pytest.fixture
    def gram(self, tmp_path: Path) -> Any:
        """Two of the blocks committed; zeros and ones take the place of a kernel."""
        gram: Any = Gram(tmp_path, 1, 20)
        gram.begin(random.Random(1))
        gram.reference.mkdir()
        values = np.zeros((ROWS, ROWS), dtype=np.float32)
        values[:384, :384] = values[384:768, :384] = values[:384, 384:768] = 1.0
        for path in (gram.place / "K.h5.part", gram.reference / "K.h5"):
            with h5py.File(path, "w") as file:
                file["ntk_3"] = values
        gram.whole = {"ntk_3": values}
        self.journal(gram, [[0, "sum"], [1, "sum"]])
        return gram

    @staticmethod
    def journal(gram: Any, done: list[Any]) -> None:
        (gram.place / "K.h5.part.json").write_text(json.dumps({"block": 384, "done": done}))

    def test_committed_blocks(self, gram: Any) -> None:
        assert gram.check() == 2

    def test_a_block_that_is_no_longer_listed(self, gram: Any) -> None:
        gram.check()
        self.journal(gram, [[1, "sum"]])
        with pytest.raises(Violation, match=r"blocks \[0\] were committed and are gone"):
            gram.check()

    @pytest.mark.parametrize("at", [(400, 10), (10, 400)])  # the second block, and its mirror
    def test_a_changed_byte(self, gram: Any, at: tuple[int, int]) -> None:
        with h5py.File(gram.place / "K.h5.part", "r+") as file:
            file["ntk_3"][at] = 0.5
        with pytest.raises(Violation, match="block 1 of ntk_3"):
            gram.check()

    def test_bytes_that_nobody_committed(self, gram: Any) -> None:
        with h5py.File(gram.place / "K.h5.part", "r+") as file:
            file["ntk_3"][1000, 1000] = 0.5
        assert gram.check() == 2

    def test_a_finished_file_that_vanishes(self, gram: Any) -> None:
        gram.finished = True
        with pytest.raises(Violation, match="was finished and is gone"):
            gram.check()
