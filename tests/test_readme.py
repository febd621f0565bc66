"""The README as a newcomer uses it: every block is pasted and does what is said.

Python blocks run one by one, each after the block that defines X and y. TOML blocks are whole specs. Of the shell
blocks every simlab command is parsed, so that a command or an option that is not there fails; those that end at once
are run, and a `run` is made a dry run.
"""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import matplotlib
import pytest

from simlab.cli.app import app
from simlab.core import catalogue
from simlab.lab.spec import resolve
from simlab.lab.tables import parse_toml
from tests.support.command_server import CommandServer

TOP = Path(__file__).parents[1]
TEXT = (TOP / "README.md").read_text(encoding="utf-8")
QUICKSTART = ("run", "quickstart", "-o", "out/quickstart", "--set", "flow.steps=20", "--set", "sweep.seeds=2")
"""The README's, but for its length."""


@dataclass(frozen=True)
class Block:
    language: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}"


def blocks() -> Iterator[Block]:
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        yield Block(found[1], TEXT.count("\n", 0, found.start()) + 1, found[2])


BLOCKS = list(blocks())
SETUP, *PYTHON = [block for block in BLOCKS if block.language == "python"]
TOML = [block for block in BLOCKS if block.language == "toml"]
COMMANDS = [
    (block.line + number, words)
    for block in BLOCKS
    if block.language == "sh"
    for number, line in enumerate(block.text.splitlines(), 1)
    for part in re.split(r"&&|>", re.sub(r"(^|\s)#\s.*", "", line))
    if (words := shlex.split(part)) and Path(words[0]).name == "simlab"
]
AT_ONCE = ("kernel", "spectrum", "gram", "list", "show", "new", "guide", "status", "resume")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A newcomer's directory: the set-up block was run in it, and the quickstart."""
    directory = tmp_path_factory.mktemp("desk")
    (directory / "DIR").mkdir()
    subprocess.run([sys.executable, "-c", SETUP.text], cwd=directory, check=True)
    done = subprocess.run(
        [sys.executable, "-m", "simlab", *QUICKSTART], cwd=directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="module")
def served() -> Iterator[CommandServer]:
    """Commands in one process."""
    process = CommandServer()
    yield process
    process.close()


@pytest.fixture
def at_desk(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(desk)
    return desk


def run_python(block: Block) -> None:
    """Paste the set-up block, then this one; and hold each line that says a number, ``x  # 3.0: why``, to it."""
    names: dict[str, Any] = {}
    exec(compile(SETUP.text, "README.md, set-up", "exec"), names)
    padded = "\n" * block.line + block.text  # an error names the line of the README
    lines = padded.splitlines()
    for statement in ast.parse(padded).body:
        said = re.search(r"  # (-?\d[\d.]*(?:e-?\d+)?):", lines[statement.end_lineno - 1])  # type: ignore[operator]
        if isinstance(statement, ast.Expr) and said:
            value = eval(compile(ast.Expression(statement.value), "README.md", "eval"), names)
            digits = len(said[1].partition(".")[2])
            assert round(float(value), digits) == float(said[1]), lines[statement.lineno - 1]
        else:
            exec(compile(ast.Module([statement], []), "README.md", "exec"), names)


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_a_python_block_runs_as_pasted(block: Block, at_desk: Path) -> None:
    matplotlib.use("Agg")
    run_python(block)


def imported(text: str) -> set[str]:
    """The packages that a block imports."""
    nodes = list(ast.walk(ast.parse(text)))
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in named}


@pytest.mark.parametrize("block", [SETUP, *PYTHON], ids=str)
def test_a_python_block_needs_what_the_install_brings(block: Block) -> None:
    """Or what the sentence above it says to install."""
    table = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    brought = {re.match(r"[\w-]+", need)[0] for need in table["project"]["dependencies"]}  # type: ignore[index]
    above = "\n".join(TEXT.splitlines()[max(0, block.line - 4) : block.line - 1])
    brought |= {{"scikit-learn": "sklearn"}.get(name, name) for name in re.findall(r"`pip install ([\w-]+)`", above)}
    assert imported(block.text) <= brought | {"simlab"}


def test_a_block_that_fails_or_says_a_wrong_number_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the set-up block writes a file
    for wrong in ("unheard_of(X)", "X.shape[0]  # 299: samples", "float('nan')  # 1.0: not so"):
        with pytest.raises((NameError, AssertionError)):
            run_python(Block("python", 7, wrong))
    run_python(Block("python", 7, "X.shape[0]  # 300: samples\nlen(X_new)  # 50: more\ny.std() < 2"))


@pytest.mark.parametrize("block", TOML, ids=str)
def test_a_toml_block_is_a_whole_spec(block: Block) -> None:
    spec = resolve(parse_toml(block.text), seed=0)
    assert spec.at(0)


def test_the_sweep_has_the_points_it_shows() -> None:
    """Three widths, three α and ten seeds; and so many with its commented lines switched on."""
    (sweep,) = (block.text for block in TOML if "[sweep]" in block.text)
    assert resolve(parse_toml(sweep)).sweep.points == 3 * 3 * 10
    for word, points in (("zip", 3 * 10), ("independent", 3 * 3 * 10)):
        switched = re.sub(rf"^# ({word} = .*)$", r"\1", sweep, flags=re.MULTILINE)
        assert switched != sweep
        assert resolve(parse_toml(switched)).sweep.points == points


def parsed(words: list[str]) -> click.Context:
    """The context of a command whose arguments are right; else a click.UsageError or BadParameter."""
    command = app.get_command(click.Context(app), words[0])
    assert command is not None, f"no command {words[0]}"
    with command.make_context(words[0], list(words[1:]), parent=click.Context(app, info_name="simlab")) as context:
        return context


@pytest.mark.parametrize(("line", "words"), COMMANDS, ids=[f"line {line}" for line, _ in COMMANDS])
def test_a_command_is_as_the_help_has_it(line: int, words: list[str], at_desk: Path, served: CommandServer) -> None:
    name, *arguments = words[1:]
    context = parsed([name, *arguments])
    if name == "reproduce":
        claims = [value for value in arguments if re.fullmatch("[a-z_]+", value)]
        assert set(claims) - {"out"} <= set(catalogue.names("claims"))
        assert context.params
        return
    if name == "run":
        arguments = [*arguments, "--dry-run"]
        if any(argument.startswith("mnist") for argument in arguments):  # its data are not there: parsed only
            return
    if name in AT_ONCE or name == "run":
        done = served.call([name, *arguments], at_desk)
        assert done.returncode == 0, done.stderr
        assert done.stdout or name in ("gram", "resume")


def test_a_command_that_is_not_there_is_found() -> None:
    for wrong in (["kernel", "ntk", "--dept", "3"], ["runn", "quickstart"], ["status"], ["resume", "a", "b"]):
        with pytest.raises((click.UsageError, AssertionError)):
            parsed(wrong)


def test_the_blocks_that_ci_takes_are_there() -> None:
    for mark in ("main", "test"):
        found = re.search(rf"^<!-- {mark} -->\n```sh\n(.+)\n```$", TEXT, re.MULTILINE)
        assert found is not None
        assert found[1].startswith("python3 -m venv .venv && .venv/bin/pip install")


# Links


def test_links_into_the_tree_lead_somewhere() -> None:
    inside = [target for target in re.findall(r"\]\(([^)#]+)\)", TEXT) if "://" not in target]
    assert inside
    for target in inside:
        assert (TOP / target).exists(), target


PAPERS = {
    "Bietti and Bach": "2009.14397",
    "Chizat, Oyallon and Bach": "1812.07956",
    "Eldan and Shamir": "1512.03965",
    "Ren, Zhou and Ge": "2304.01063",
    "Allen-Zhu and Li": "1905.10337",
    "Abbe, Boix-Adserà and Misiakiewicz": "2202.08658",
}


def test_papers_are_linked() -> None:
    prose = re.sub(r"\s+", " ", TEXT)
    for authors, number in PAPERS.items():
        assert f"[{authors}](https://arxiv.org/abs/{number})" in prose
    for found in re.finditer(r"arxiv\.org/abs/(\S+?)\)", TEXT):
        assert found[1] in PAPERS.values()


def test_files_and_options_in_the_prose_are_there() -> None:
    """`tools/bench/depth.py`, `runs/…` and the like exist; `--options` belong to some command."""
    for path in re.findall(r"`(?:python )?((?:tools|runs|simlab)/[\w/.]+)`", TEXT):
        assert (TOP / path).exists(), path
    commands = [app.get_command(click.Context(app), name) for name in app.list_commands(click.Context(app))]
    options = {option for c in commands if c is not None for p in c.params for option in p.opts} | {"--editable"}
    for option in re.findall(r"`(--[a-z-]+)", TEXT):
        assert option in options, option


def test_python_named_in_the_prose_is_there() -> None:
    """`simlab.theory.population` and its like."""
    for name in set(re.findall(r"`(simlab(?:\.\w+)+)[(`]", TEXT)):
        found: Any = __import__("simlab")
        for part in name.split(".")[1:]:
            found = getattr(found, part)
