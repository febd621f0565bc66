"""show and schema: kinds in the words of TOML, the sweep language, runs, verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simlab.cli._show_sweep import EXAMPLES
from simlab.core import catalogue
from simlab.core.parsing import choose
from simlab.lab.sweep import GENERATORS, WORDS, Sweep
from simlab.record.brief import brief
from simlab.record.reader import Results
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]


def test_a_kind_is_shown_in_toml(simlab_again: Call) -> None:
    said = simlab_again("show", "two_layer").stdout
    assert "  width       integer, at least 1; required\n              number m of neurons\n" in said
    assert '  scaling     one of "ntk", "mean_field", "none"; default "ntk"' in said
    example = tomllib.loads(said.partition("Example:\n")[2])
    assert choose("networks", example["network"], "network").width == 7


@pytest.mark.parametrize("room", [room for room in catalogue.rooms() if room != "claims"])
def test_every_example_is_toml(simlab_again: Call, room: str) -> None:
    for kind in catalogue.names(room):
        if (room, kind) == ("activations", "custom"):  # takes a Python function
            continue
        said = simlab_again("show", f"{room}/{kind}").stdout
        example = tomllib.loads(said.partition("Example:\n")[2])
        if room == "experiments":
            assert example["experiment"]["kind"] == kind
        else:
            (table,) = example.values()
            choose(room, table, room)


def test_a_name_of_two_things_says_what_to_type(simlab_again: Call) -> None:
    done = simlab_again("show", "loss_split")
    assert done.returncode == 2
    assert "type `simlab show claims/loss_split` or `simlab show observables/loss_split`" in done.stderr
    assert "statement: " in simlab_again("show", "claims/loss_split").stdout
    assert "\nsource: " in simlab_again("show", "claims/loss_split").stdout


def test_the_sweep_language_is_shown_whole(simlab_again: Call) -> None:
    said = simlab_again("show", "sweep").stdout
    for word in (*WORDS, *GENERATORS):
        assert word in said
    shown = json.loads(simlab_again("show", "sweep", "--json").stdout)["examples"]
    assert [row["toml"] for row in shown] == [example for _, example in EXAMPLES]
    for row in shown:
        assert row["toml"].splitlines()[0] in said
        sweep = Sweep.parse(tomllib.loads(row["toml"]))
        assert row["points"] == [sweep.label(point) for point in range(sweep.points)]


def test_schema_of_specs_and_of_one_kind(simlab_again: Call) -> None:
    whole = json.loads(simlab_again("schema").stdout)
    assert whole["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "networks.two_layer" in whole["$defs"]
    one = json.loads(simlab_again("schema", "networks/two_layer").stdout)
    assert one["required"] == ["kind", "width"]
    assert one["properties"]["width"]["minimum"] == 1
    assert 'did you mean "two_layer"' in simlab_again("schema", "two_layers").stderr
    assert "whole spec" in simlab_again("schema", "gradient_flow").stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two widths, the second too large for any machine, three seeds."""
    import tomli_w

    from simlab.lab.run import run_spec

    home = tmp_path_factory.mktemp("show")
    tables = small_tables(**{"network.width": [10, 10**12], "seeds": 3})
    (home / "spec.toml").write_text(tomli_w.dumps(tables))
    run_spec(home / "spec.toml", home / "out")
    return home / "out"


def test_a_run_is_shown_with_its_values(simlab_again: Call, run: Path) -> None:
    shown = json.loads(simlab_again("show", run, "--json").stdout)
    assert (shown["experiment"], shown["seed"], shown["threads"]) == ("gradient_flow", 3, 1)
    assert shown["axes"] == {"network.width": [10, 10**12], "seed": [0, 1, 2]}
    assert shown["points"] == {"all": 6, "pending": 0, "unfinished": 0, "finished": 3, "failed": 3}
    assert [failure["at"] for failure in shown["failures"]] == [f"network.width={10**12} seed={k}" for k in range(3)]
    assert tomllib.loads(shown["spec"])["sweep"]["seeds"] == 3
    assert shown["versions"]["simlab"]
    with h5py.File(run / "results.h5") as file:
        loss, length = file["train_loss"][0], file["length"][0]
    one = shown["datasets"]["train_loss"]
    assert one["dims"] == ["network.width", "seed", "record"]
    assert one["shape"] == [2, 3, loss.shape[-1]]
    assert one["first"] == [loss[:, 0].min(), loss[:, 0].max()]
    last = loss[np.arange(3), length - 1]
    assert one["last"] == [last.min(), last.max()]
    assert "status" not in shown["datasets"]


def test_the_time_is_that_of_the_files(simlab_again: Call, run: Path) -> None:
    began = (run / "spec.toml").stat().st_mtime
    segments = sorted((run / "segments").glob("*.h5"), key=lambda path: path.stat().st_mtime)
    os.utime(segments[-1], (began + 600, began + 600))
    assert json.loads(simlab_again("show", run, "--json").stdout)["seconds"] == pytest.approx(600, abs=1)
    assert "about 10 min from its start to its last commit" in " ".join(simlab_again("show", run).stdout.split())


def test_a_run_in_words(simlab_again: Call, run: Path) -> None:
    said = simlab_again("show", run).stdout
    assert "gradient_flow, 3 of 6 points finished, 3 failed" in said
    assert "  seed 3, 1 thread per point\n" in said
    assert "  network.width: 2 values: 10, 1000000000000\n" in said
    assert f"  failed: network.width={10**12} seed=2: " in said
    assert "  train_loss (network.width: 2, seed: 3, record: " in said
    assert "mean over the training data of the loss that is trained on" in said
    assert "Made with simlab " in said
    assert "more lines" in said
    whole = simlab_again("show", run, "--whole").stdout
    spec = whole.partition("Spec, resolved:\n")[2]
    kept = (run / "spec.toml").read_text().partition("\n")[2]
    assert tomllib.loads(spec) == tomllib.loads(kept)


def test_a_run_fits_into_80_columns(simlab_again: Call, run: Path) -> None:
    for command in (["show", run], ["status", run]):
        lines = simlab_again(*command).stdout.splitlines()
        assert [line for line in lines if len(line) > 80 and str(run) not in line] == []
        assert any("3 of 6 points finished" in line for line in lines)
        assert sum("failed: network.width=" in line for line in lines) == 3


def test_results_alone_and_a_run_without_results(simlab_again: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.h5").write_bytes((run / "results.h5").read_bytes())
    alone = json.loads(simlab_again("show", tmp_path / "copy.h5", "--json").stdout)
    assert alone["seconds"] is None
    assert alone["axes"] == {"network.width": [10, 10**12], "seed": [0, 1, 2]}
    assert len(alone["failures"]) == alone["points"]["failed"] == 3
    assert alone["failures"][0]["error"]
    (run / "results.h5").rename(tmp_path / "aside.h5")
    try:
        done = simlab_again("show", run)
        assert done.returncode == 0
        assert f"`simlab collate {run}` writes it" in " ".join(done.stdout.split())
        assert "3 of 6 points finished" in done.stdout
    finally:
        (tmp_path / "aside.h5").rename(run / "results.h5")


def test_brief_leaves_out_what_is_no_value(run: Path) -> None:
    """NaN in floats and -1 in integers stand where a point failed."""
    results = Results(run)
    assert np.isnan(results["train_loss"]).any()
    assert (results["step"] == -1).any()
    assert brief(results, "step") == {"first": [0, 0], "last": [50, 50]}
    low, high = brief(results, "train_loss")["last"]
    assert 0 < low <= high < 10


def verdict(**changes: Any) -> dict[str, Any]:
    row = {"claim": "step_depth", "source": "s", "statement": "x", "expected": "e", "measured": "m " * 60}
    return row | {"holds": True, "control": "refused", "short": "exponents 0.004 off"} | changes


def test_a_ledger_is_shown_by_its_lines(simlab_again: Call, tmp_path: Path) -> None:
    """Also one with true and false, as it was written once."""
    home = tmp_path / "ledger" / "quick"
    (home / "step_depth").mkdir(parents=True)
    (home / "step_depth" / "verdict.json").write_text(json.dumps(verdict(control=False)))
    row = {key: value for key, value in verdict(control=False).items() if key != "short"}
    (home / "ledger.json").write_text(json.dumps([row]))
    for path in (tmp_path / "ledger", home):
        lines = simlab_again("show", path).stdout.splitlines()
        assert lines == ["✓ step_depth  exponents 0.004 off", "1 of 1 claims hold"]
    assert json.loads(simlab_again("show", home, "--json").stdout)[0]["control"] == "refused"
    said = simlab_again("show", home / "step_depth").stdout
    assert said.startswith("step_depth: holds, its control was refused\n")
    assert "m " * 30 in " ".join(said.split())
    assert json.loads(simlab_again("show", home / "step_depth", "--json").stdout)["control"] == "refused"
    (home / "step_depth" / "verdict.json").write_text("[")
    done = simlab_again("show", home / "step_depth")
    assert done.returncode == 2
    assert "not a verdict" in done.stderr
