"""simlab guide: the mathematics in the terminal, and the full source of a claim."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simlab.core import guides
from tests.support import terminal

Call = Callable[..., subprocess.CompletedProcess[str]]


def test_piped_it_is_the_document_itself(simlab_again: Call) -> None:
    done = simlab_again("guide", "mathematics")
    assert done.returncode == 0
    assert done.stdout == guides.read("mathematics")
    assert done.stderr == ""
    part = simlab_again("guide", "mathematics", "--section", "4.2").stdout
    assert part.startswith("### 4.2 ")
    assert part == guides.section(guides.read("mathematics"), "4.2")
    assert "S^{d−1}" not in simlab_again("guide", "mathematics", "--contents").stdout


def test_guides_are_listed(simlab_again: Call) -> None:
    said = simlab_again("guide").stdout
    assert "\nmathematics  Every formula" in said
    assert max(map(len, said.splitlines())) < 80
    assert json.loads(simlab_again("guide", "--json").stdout) == guides.guides()
    parts = json.loads(simlab_again("guide", "mathematics", "--section", "9", "--json").stdout)
    assert parts["headings"][0] == {"section": "9", "title": "Beyond kernels"}
    assert parts["text"] == guides.section(guides.read("mathematics"), "9")


def test_names_are_completed() -> None:
    env = {**os.environ, "_SIMLAB_COMPLETE": "bash_complete", "COMP_WORDS": "simlab guide ma", "COMP_CWORD": "2"}
    done = subprocess.run([sys.executable, "-m", "simlab"], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "plain,mathematics\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["matematics"], "guide = 'matematics': unknown; did you mean \"mathematics\"? (allowed: kinds, mathematics"),
        (["mathematics", "--section", "99"], "--section 99: no such section"),
        (["--section", "4"], "need the name of a guide"),
    ],
)
def test_what_does_not_exist_is_one_line(simlab_again: Call, arguments: list[str], says: str) -> None:
    done = simlab_again("guide", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def on_a_terminal(arguments: list[str], **env: str) -> str:
    """What `simlab guide …` shows on a terminal whose pager is ``cat``; an empty NO_COLOR asks for colours."""
    command = ["-m", "simlab", "guide", *arguments]
    seen, code = terminal.shown(command, ("stdin", "stdout"), {"PAGER": "cat", "NO_COLOR": "", **env})
    assert code == 0
    return seen.replace("\r\n", "\n")


def test_on_a_terminal_headings_stand_out_and_formulas_stay() -> None:
    shown = on_a_terminal(["mathematics"])
    assert "\x1b[1m\x1b[4m4 Spectrum on the sphere\x1b[0m" in shown
    text = guides.read("mathematics")
    formulas = [line for line in text.splitlines() if line.startswith("    ")]
    assert set(formulas) <= set(shown.splitlines())
    assert "**" not in shown
    assert on_a_terminal(["mathematics", "--section", "2.4"]).count("\x1b[0m") > 0


def test_no_color_is_honoured() -> None:
    assert on_a_terminal(["mathematics", "--section", "8"], NO_COLOR="1") == guides.section(
        guides.read("mathematics"), "8"
    )


def test_less_is_told_to_show_bold_text(tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\ncat > /dev/null; echo "LESS=$LESS"\n')
    pager.chmod(0o755)
    assert on_a_terminal(["mathematics"], PAGER=str(pager), LESS="-FX").strip() == "LESS=-FX -R"
    assert on_a_terminal(["mathematics"], PAGER=str(pager), LESS="-FX", NO_COLOR="1").strip() == "LESS=-FX"


def test_show_prints_the_full_source_of_a_claim(simlab_again: Call) -> None:
    said = " ".join(simlab_again("show", "lazy_rates").stdout.split())
    assert "Lénaïc Chizat, Edouard Oyallon and Francis Bach. On Lazy Training in Differentiable Programming." in said
    assert "https://arxiv.org/abs/1812.07956" in said
    assert "Pradeep Ravikumar" in said
    assert "simlab guide mathematics --section 6" in said
    listed = json.loads(simlab_again("show", "lazy_rates", "--json").stdout)["sources"]
    assert [source["key"] for source in listed] == ["S1", "Chizat et al. 2019"]
    assert listed[1]["arxiv"] == "1812.07956"


def test_the_wheel_holds_the_guide() -> None:
    """The document lies inside the package, which the wheel takes whole."""
    import simlab

    assert Path(simlab.__file__).parent in guides.HOME.parents
    assert not (guides.HOME / "__init__.py").exists(), "data, no room"
