"""The bare command, options that need a value, and the last line after ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pytest
import tomli_w

from simlab.cli import usage
from simlab.cli.app import COMMANDS, app
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
VALUES = [
    (name, option)
    for name in COMMANDS
    for option in app.get_command(click.Context(app), name).params  # type: ignore[union-attr]
    if isinstance(option, click.Option) and not option.is_flag and option.nargs == 1
]
STOPPED = """
import importlib, os, signal, sys
module = importlib.import_module("{module}")
def stopped(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
module.{name} = stopped
sys.argv = ["simlab", *sys.argv[1:]]
from simlab.cli import main
main()
"""


def test_the_bare_command_prints_its_help(simlab: Call) -> None:
    bare, asked = simlab(), simlab("--help")
    assert (bare.returncode, bare.stderr) == (0, "")
    assert bare.stdout == asked.stdout
    assert len(bare.stdout.splitlines()) > 10


def test_any_bare_group_prints_its_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever click does: 8.1 prints the help and exits, 8.2 raises a usage error that holds it."""
    from simlab import cli
    from simlab.cli import app as app_module

    @click.group()
    def inner() -> None:
        """Of two words."""

    @click.group()
    def outer() -> None:
        """Of one."""

    outer.add_command(inner)
    monkeypatch.setattr(app_module, "app", outer)
    monkeypatch.setattr(sys, "argv", ["simlab", "inner"])
    assert cli._call() == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Usage: simlab inner [OPTIONS] COMMAND [ARGS]...\n")
    assert printed.err == ""


@pytest.mark.parametrize(("name", "option"), VALUES, ids=lambda value: getattr(value, "name", value))
def test_an_option_without_its_value_says_which_it_needs(simlab_again: Call, name: str, option: click.Option) -> None:
    placeholder = option.metavar or option.type.name.upper()
    assert placeholder not in ("TEXT", "PATH", "DIRECTORY RANGE", "INTEGER RANGE", "FLOAT RANGE", "INTEGER", "FLOAT")
    assert "a value" not in usage.needed(option), "WORDS lacks what this placeholder stands for"
    flag = option.opts[-1]
    done = simlab_again(name, flag)
    assert done.returncode == 2
    assert done.stderr == f"simlab: {flag} needs {usage.needed(option)} (see `simlab {name} --help`)\n"


def test_what_options_need(simlab_again: Call) -> None:
    for words, says in {
        "run x --workers": "--workers needs a whole number of at least 1",
        "run x --order": "--order needs one of: listed, shuffled",
        "run x -o": "-o needs a directory",
        "run x --set": "--set needs a key and its value, such as network.width=100",
        "spectrum ntk --rtol": "--rtol needs a number",
        "gram ntk x.npy --memory": "--memory needs a size, such as 4GB",
    }.items():
        assert says in simlab_again(*words.split()).stderr


@pytest.mark.parametrize(
    ("module", "name", "arguments", "goes_on"),
    [
        ("simlab.lab.run", "Pool", ["run", "s.toml", "-o", "out dir/q", "-q"], "simlab resume 'out dir/q'"),
        ("simlab.lab.run", "Pool", ["run", "s.toml", "-q"], "simlab resume out/s"),
        (
            "simlab.lab.run",
            "Pool",
            ["run", "a.toml", "-o", "a", "--data", "store", "-q"],
            "simlab resume a --data {here}/store",
        ),
        (
            "simlab.claims.ledger",
            "reproduce",
            ["reproduce", "relu_decay", "--overwrite", "-o", "my ledger"],
            "simlab reproduce relu_decay -o 'my ledger'",
        ),
        (
            "simlab.kernels.gram.store",
            "gram_file",
            ["gram", "ntk", "store/x.npy", "--depth", "3", "-o", "K.h5"],
            "simlab gram ntk store/x.npy --depth 3 -o K.h5",
        ),
    ],
)
def test_ctrl_c_names_the_command_to_go_on_with(
    tmp_path: Path, module: str, name: str, arguments: list[str], goes_on: str
) -> None:
    tables = small_tables()
    (tmp_path / "s.toml").write_text(tomli_w.dumps(tables))
    (tmp_path / "a.toml").write_text(tomli_w.dumps({**tables, "data": {"kind": "arrays", "path": "x.npy"}}))
    (tmp_path / "store").mkdir()
    np.save(tmp_path / "store" / "x.npy", np.random.default_rng(0).standard_normal((30, 4)))
    done = subprocess.run(
        [sys.executable, "-c", STOPPED.format(module=module, name=name), *arguments],
        capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    last = done.stderr.splitlines()[-1]
    expected = goes_on.format(here=tmp_path)
    assert last == f"simlab: stopped by SIGINT; what was committed is kept; `{expected}` goes on"


def test_a_stop_before_any_work_names_no_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED.format(module="simlab.lab.bundled", name="names"), "list", "runs"],
        capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300,
    )  # fmt: skip
    assert done.stderr == "simlab: stopped by SIGINT; what was committed is kept\n"
