"""The command line as a user meets it: help, errors, exit codes, JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simlab.cli.app import COMMANDS
from tests.support import terminal
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]
RUNS = sorted((Path(__file__).parents[2] / "runs").glob("*.toml"))


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("simlab: ")
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"network": {"widht": 5}}, 'network.widht = 5: unknown key; did you mean "width"?'),
        ({"network": {"width": "wide"}}, "network.width = 'wide': must be a valid integer"),
        ({"network": {"width": -5}}, "network.width = -5: must be greater than or equal to 1"),
        ({"network": {"kind": "two_layr"}}, "network.kind = 'two_layr': unknown kind; did you mean \"two_layer\"?"),
        ({"experiment": {"kind": "gradientflow"}}, "experiment.kind = 'gradientflow': unknown kind; did you mean"),
        ({"sweep": {"network.width": []}}, "sweep.network.width = []: empty"),
        ({"sweep": {}}, "[sweep]: empty"),
        ({"figure": {"kind": "trajectories", "y": ["trian_loss"]}}, 'did you mean "train_loss"?'),
        ({"figure": {"kind": "pie"}}, "figure.kind = 'pie': unknown kind"),
    ],
)
def test_bad_specs(tmp_path: Path, simlab_again: Call, write_spec: Write, changes: dict[str, Any], says: str) -> None:
    tables = small_tables()
    for table, change in changes.items():
        tables[table] = {**tables.get(table, {}), **change} if change else {}
    out = tmp_path / "out"
    for command in (["run", write_spec(tables), "-o", out], ["run", write_spec(tables), "-o", out, "--dry-run"]):
        assert says in one_line(simlab_again(*command))
    assert not out.exists(), "nothing may be written"


def test_missing_file_and_syntax_error(tmp_path: Path, simlab: Call) -> None:
    assert "nowhere.toml: no such file" in one_line(simlab("run", "nowhere.toml"))
    bad = tmp_path / "bad.toml"
    bad.write_text('[experiment]\nkind = "gradient_flow"\nseed = = 3\n')
    said = one_line(simlab("run", bad))
    assert "bad.toml: TOML syntax error" in said
    assert "line 3" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml"]


def test_commands_on_what_is_no_run(tmp_path: Path, simlab_again: Call) -> None:
    for command in ("resume", "status", "collate"):
        assert "not a run directory" in one_line(simlab_again(command, tmp_path))
    assert not list(tmp_path.iterdir())
    assert 'did you mean "two_layer"' in one_line(simlab_again("show", "two_layers"))
    assert "unknown" in one_line(simlab_again("list", "rooms"))
    assert "unknown kind" in one_line(simlab_again("reproduce", "no_such_claim"))


def test_usage_errors_are_one_line_and_exit_2(simlab: Call) -> None:
    assert 'did you mean "run"' in one_line(simlab("rum"))
    for arguments in (["run"], ["run", "x.toml", "--workers", "0"], ["run", "x.toml", "--nonsense"]):
        assert "--help" in one_line(simlab(*arguments))


def test_closed_standard_streams(tmp_path: Path, write_spec: Write) -> None:
    path, out = write_spec(small_tables()), tmp_path / "out"
    for closed in ("2>&-", ">&-", "<&-"):
        command = f"{sys.executable} -m simlab run {path} -o {out} {closed}"
        assert subprocess.run(["bash", "-c", command], check=False, capture_output=True).returncode == 0, closed
    bad = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m simlab run nowhere.toml 2>&-"], check=False, capture_output=True
    )
    assert (bad.returncode, bad.stdout) == (2, b"")


def test_brackets_in_a_path_are_no_markup(tmp_path: Path, write_spec: Write) -> None:
    shown, code = on_a_terminal(["run", str(write_spec(small_tables())), "-o", str(tmp_path / "x[/b]")])
    assert code == 0
    assert "x[/b]" in shown


def on_a_terminal(arguments: list[str]) -> tuple[str, int]:
    """Run with standard error on a wide terminal; returns what it showed there, and the exit code."""
    return terminal.shown(["-m", "simlab", *arguments], ("stderr",), {"COLUMNS": "200"})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(simlab_again: Call, command: str) -> None:
    said = simlab_again(command, "--help").stdout
    assert "Example:" in said
    assert f"simlab {command}" in said


def test_dry_run_lists_points_and_writes_nothing(tmp_path: Path, simlab: Call, write_spec: Write) -> None:
    path = write_spec(small_tables(**{"flow.alpha": {"logspace": [0, 1, 3]}, "seeds": 2}))
    done = simlab("run", path, "-o", tmp_path / "out", "--dry-run")
    assert done.returncode == 0
    assert "flow.alpha=3.16228 seed=1" in done.stdout
    assert "6 points, about" in done.stdout
    plan = json.loads(simlab("run", path, "--dry-run", "--json").stdout)
    assert [point["values"]["flow.alpha"] for point in plan["points"][::2]] == pytest.approx([1, 10**0.5, 10])
    assert plan["seconds"] > 0
    assert plan["bytes"] > 0
    assert not (tmp_path / "out").exists()


def test_run_with_settings_status_collate_show(tmp_path: Path, simlab: Call, write_spec: Write) -> None:
    out = tmp_path / "out dir"
    done = simlab(
        "run", write_spec(small_tables()), "-o", out, "--json", "--quiet",
        "--set", "network.width=7", "--set", "sweep.flow.alpha=[1.0, 2.0]", "--set", "network.scaling=mean_field",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "directory": str(out), "results": str(out / "results.h5"), "figure": None, "seed": 3, "points": 2, "failed": [],
        "ended_early": [],
    }  # fmt: skip
    status = json.loads(simlab("status", out, "--json").stdout)
    assert (status["points"], status["finished"], status["running"]) == (2, 2, False)
    (out / "results.h5").unlink()
    assert simlab("collate", out).stdout.strip() == str(out / "results.h5")
    shown = json.loads(simlab("show", out, "--json").stdout)
    assert shown["datasets"]["train_loss"]["dims"] == ["flow.alpha", "record"]
    assert "mean_field" in shown["attributes"]["spec"]


def test_a_run_that_diverges_says_so(tmp_path: Path, simlab: Call, write_spec: Write) -> None:
    out = tmp_path / "out"
    done = simlab("run", write_spec(small_tables(**{"flow.step": [0.1, 1e4]})), "-o", out)
    assert done.returncode == 0
    says = "1 of 2 points ended early, loss above 1e+08 times the larger of the first loss and the target's mean square"
    assert f"simlab: {says}; the first: flow.step=10000" in done.stderr
    assert says in " ".join(simlab("status", out).stdout.split())
    early = json.loads(simlab("status", out, "--json").stdout)["ended_early"]
    assert [(point["point"], point["at"]) for point in early] == [(1, "flow.step=10000")]


def test_options_can_come_from_the_environment(tmp_path: Path, simlab: Call, write_spec: Write) -> None:
    done = simlab("run", write_spec(small_tables()), "--dry-run", "--json", env={"SIMLAB_RUN_WORKERS": "7"})
    assert json.loads(done.stdout)["workers"] == 7


def test_a_spec_figure_is_drawn(tmp_path: Path, simlab: Call, write_spec: Write) -> None:
    tables = small_tables(seeds=2) | {"figure": {"kind": "trajectories", "y": ["train_loss", "weight_movement"]}}
    done = simlab("run", write_spec(tables), "-o", tmp_path / "out")
    assert done.stdout.splitlines()[-1] == str(tmp_path / "out" / "figure.png")
    assert (tmp_path / "out" / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_progress_is_a_bar_on_a_terminal(tmp_path: Path, write_spec: Write) -> None:
    """Points and steps, each with rate and time left."""
    tables = small_tables(**{"network.width": [400]})
    tables["flow"]["steps"] = 120_000
    shown, code = on_a_terminal(["run", str(write_spec(tables)), "-o", str(tmp_path / "out"), "--workers", "1"])
    assert code == 0
    for text in ("0/1 points, ", "/120000 steps, ", "/s, ", " left"):
        assert text in shown


def test_a_closed_pipe_is_no_traceback(simlab: Call) -> None:
    script = f"{sys.executable} -m simlab list | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_list_and_show_name_every_kind(simlab_again: Call) -> None:
    listed = json.loads(simlab_again("list", "--json").stdout)
    assert "two_layer" in listed["networks"]
    assert "tangent_rate" in listed["claims"]
    fields = json.loads(simlab_again("show", "networks/two_layer", "--json").stdout)["fields"]
    names = [field["field"] for field in fields]
    assert names == ["width", "activation", "scaling", "bias", "trained", "doubled", "init_std", "inner_std"]
    assert "statement" in json.loads(simlab_again("show", "tangent_rate", "--json").stdout)


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_every_shipped_spec_is_valid_and_says_what_it_is_for(simlab_again: Call, path: Path) -> None:
    head = path.read_text().split("\n\n")[0]
    for word in ("Question:", "Expected:", "Source:", "Minutes:"):
        assert word in head
    assert simlab_again("run", path, "--dry-run").returncode == 0


def test_a_spec_written_back_is_read_the_same(tmp_path: Path, simlab: Call, write_spec: Write) -> None:
    """What a run directory holds is itself a spec that can be run elsewhere."""
    assert simlab("run", write_spec(small_tables(seeds=2)), "-o", tmp_path / "a").returncode == 0
    assert simlab("run", tmp_path / "a" / "spec.toml", "-o", tmp_path / "b").returncode == 0
    assert (tmp_path / "a" / "spec.toml").read_text() == (tmp_path / "b" / "spec.toml").read_text()
