"""Terminals that are not UTF-8: every command prints something they have, and JSON stays JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tomli_w

from simlab.cli._encoding import spell_out
from tests.support.runs import small_tables

ASCII = {"PYTHONIOENCODING": "ascii"}
LATIN = {"PYTHONIOENCODING": "latin-1"}
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
CODECS = {"ascii": (ASCII, "ascii"), "latin-1": (LATIN, "latin-1"), "C": (C_LOCALE, "ascii")}
EVERY = """
import signal, sys
from simlab.cli import main
for words in sys.argv[1].split(";"):
    sys.argv = ["simlab", *words.split()]
    try:
        main()
    except SystemExit as end:
        print(f"<{end.code}>", flush=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
"""


def called(arguments: list[str], env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[bytes]:
    plain = {key: value for key, value in os.environ.items() if key not in ("LC_ALL", "LANG", "PYTHONIOENCODING")}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, cwd=cwd, timeout=300, env={**plain, **env}, check=False
    )


@pytest.mark.parametrize("name", CODECS)
def test_commands_print_what_the_terminal_has(tmp_path: Path, name: str) -> None:
    env, codec = CODECS[name]
    (tmp_path / "s.toml").write_text(tomli_w.dumps(small_tables(**{"network.width": [10, 20]})))
    commands = [
        "",
        "run --help",
        "list runs",
        "show ntk",
        "show quickstart",
        "new",
        "list claims" if name == "ascii" else "new",
    ]
    commands += ["run s.toml --dry-run", "run s.toml --set network.width=ψ", "show two_layer --json"]
    done = called(["-c", EVERY, ";".join(commands)], env, tmp_path)
    assert b"Traceback" not in done.stderr, done.stderr.decode("ascii", "replace")
    shown = done.stdout.decode(codec)  # strict: nothing but what the terminal has
    assert shown.count("<0>") == len(commands) - 1
    assert shown.count("<2>") == 1
    assert "phi" in shown
    assert "Theta^L, the neural" in shown
    said = done.stderr.decode("utf-8" if name == "C" else codec)  # in C the bytes of ψ came in as no text of C
    assert f"--set network.width={'ψ' if name == 'C' else 'psi'}: network.width is an axis" in said


@pytest.mark.parametrize("name", CODECS)
def test_json_and_specs_are_not_harmed(tmp_path: Path, name: str) -> None:
    """What another program reads is exact: JSON by its escapes, TOML in UTF-8 as TOML must be."""
    env, codec = CODECS[name]
    table = json.loads(called(["-m", "simlab", "show", "ntk", "--json"], env, tmp_path).stdout.decode(codec))
    assert table["description"].startswith("Θ^L")
    spec = called(["-m", "simlab", "new", "mnist"], env, tmp_path).stdout
    assert spec == (Path(__file__).parents[2] / "runs" / "mnist.toml").read_bytes()
    assert "λ" in spec.decode("utf-8")


@pytest.mark.parametrize(("env", "codec"), [(ASCII, "ascii"), ({}, "utf-8")])
def test_a_path_that_is_not_text(tmp_path: Path, env: dict[str, str], codec: str) -> None:
    """Bytes of a file name that no encoding has come out as they went in."""
    done = called(["-m", "simlab", "run", os.fsdecode(b"caf\xe9 \xff.toml")], env, tmp_path)
    assert done.returncode == 2
    assert done.stderr == b"simlab: caf\xe9 \xff.toml: no such file\n"


@pytest.mark.parametrize(
    ("character", "spelt"),
    [("κ", "kappa"), ("Θ", "Theta"), ("ς", "sigma"), ("≥", ">="), ("−", "-"), ("é", "e"), ("ü", "u"), ("²", "2"),
     ("₁", "1"), ("ﬁ", "fi"), ("中", "\\u4e2d"), ("😀", "\\U0001f600")],
)  # fmt: skip
def test_spelling(character: str, spelt: str) -> None:
    assert spell_out(character) == spelt
