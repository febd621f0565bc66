"""One line per claim: its mark, the figure that decides, the seconds; what is left of a ledger."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from simlab.claims import ledger
from simlab.claims.claim import SHORT_COLUMNS
from simlab.claims.ledger import Verdict
from simlab.cli import _text, _verdicts
from simlab.cli._reproduce import reproduce as command
from simlab.cli._verdicts import Course, about, duration, line
from simlab.core import catalogue
from tests.support import terminal

LONG = "exponents at most 0.004 off, intervals of different depths apart, constants at most 7.8e-03 off, 6 kernels"


def verdict(holds: bool | None = True, control: str | None = "refused", **changes: Any) -> Verdict:
    row = {"claim": "step_depth", "measured": LONG, "holds": holds, "control": control}
    return Verdict(**({"row": row, "short": "exponents 0.004 off", "seconds": 12.345, "computed": True} | changes))


@pytest.mark.parametrize(
    ("judged", "starts"),
    [
        (verdict(), "✓ step_depth  exponents 0.004 off  "),
        (verdict(False), "✗ step_depth  exponents 0.004 off  "),
        (verdict(True, "accepted"), "✗ step_depth  control accepted: exponents 0.004 off  "),
        (verdict(False, "accepted"), "✗ step_depth  control accepted: exponents 0.004 off  "),
    ],
)
def test_a_line_says_what_decided(judged: Verdict, starts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = line(judged, 10, 80)
    assert text.startswith(starts)
    assert text.endswith("  12.3 s")
    assert len(text) == 80


def test_wide_terminals_show_all_that_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert line(verdict(), 10, 200).startswith(f"✓ step_depth  {LONG}  ")
    narrow = line(verdict(short=""), 10, 80)
    assert len(narrow) == 80
    assert "intervals of different… " in narrow, "whole words"


def test_not_run_says_why_and_no_seconds() -> None:
    row = {"claim": "x", "measured": "not run: give --data DIR", "holds": None, "control": None}
    assert line(Verdict(row, "", None, False), 3, 80) == "– x    not run: give --data DIR"


def test_every_claim_has_room_for_its_figure() -> None:
    longest = max(map(len, catalogue.names("claims")))
    assert 2 + longest + 2 + SHORT_COLUMNS + 2 + _verdicts.TIME_COLUMNS <= 80


@pytest.mark.parametrize("seconds", [0.04, 99.96, 999.94, 999.96, 7199.0, 7200.0, 360000.0])
def test_durations_keep_their_column(seconds: float) -> None:
    text = duration(seconds)
    assert len(text) <= _verdicts.TIME_COLUMNS
    number, unit = text.split()
    assert float(number) * {"s": 1, "min": 60, "h": 3600}[unit] == pytest.approx(seconds, rel=0.05, abs=0.05)


def test_marks_fall_back_to_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_text, _verdicts):
        monkeypatch.setattr(module, "can_print", str.isascii)
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [line(verdict(short=""), 10, 80), line(verdict(False), 10, 80), line(verdict(None, None), 10, 80)]
    assert [text[0] for text in lines] == ["+", "x", "-"]
    assert "".join(lines).isascii()


def test_the_time_left_comes_from_the_claims_measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(_verdicts.time, "monotonic", lambda: now)
    course = Course(5)
    course.begin("a")
    assert str(course) == "claim 1 of 5", "nothing is known yet"
    course.done(verdict(seconds=0.5, computed=False))  # read from an earlier run: says nothing
    course.begin("b")
    assert str(course) == "claim 2 of 5"
    course.done(verdict(seconds=60.0))
    course.begin("c")
    now = 30.0
    assert course.left() == 150.0  # 30 s of this one, two more of 60 s
    assert str(course) == "claim 3 of 5, about 2 min left"
    now = 90.0
    assert course.left() == 120.0, "longer than the others: at least what is to come"


def test_estimates_have_few_digits() -> None:
    assert [about(s) for s in (0, 12, 42, 100, 3599, 9000)] == [
        "about 5 s", "about 10 s", "about 40 s", "about 2 min", "about 60 min", "about 2 h",
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "room"), [("a b c", 5), ("alpha beta gamma", 12), ("x" * 30, 10), ("a, b; c d", 6)])
def test_abridged_text_fits_and_says_that_it_is(text: str, room: int) -> None:
    short = _text.abridge(text, room)
    assert len(short) <= room
    assert short == text or short.endswith("…")
    assert text.startswith(short.rstrip("…"))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ledger replaced by one that judges at once: the second claim's control is accepted."""
    order: list[str] = []

    def reproduce(claims: Any, size: str, out: Path, *, listener: Any, **options: Any) -> list[Any]:
        rows = []
        for k, claim in enumerate(claims):
            listener.begin(claim.kind)
            row = {"claim": claim.kind, "measured": "m", "holds": True, "control": "accepted" if k == 1 else "refused"}
            rows.append(row)
            listener.judged(Verdict(row, "m", 1.0, True))
            order.append(claim.kind)
        return rows

    monkeypatch.setattr(ledger, "reproduce", reproduce)
    return order


def test_lines_are_data_and_the_count_is_progress(judged: list[str], tmp_path: Path) -> None:
    names = ["relu_decay", "step_depth", "tangent_rate"]
    done = CliRunner().invoke(command, [*names, "-o", str(tmp_path)])
    assert done.exit_code == 3
    assert [text[:14] for text in done.stdout.splitlines()] == [
        "✓ relu_decay  ", "✗ step_depth  ", "✓ tangent_rate", "2 of 3 claims ",
    ]  # fmt: skip
    assert "claim 1 of 3: relu_decay" in done.stderr
    assert "claim 2 of 3, about 5 s left: step_depth" in done.stderr
    assert "`simlab show step_depth` says what was expected" in done.stderr
    quiet = CliRunner().invoke(command, [*names, "-q", "-o", str(tmp_path)])
    assert quiet.stdout == done.stdout
    assert quiet.stderr == ""
    as_json = CliRunner().invoke(command, [*names, "-q", "--json", "-o", str(tmp_path)])
    assert [row["control"] for row in json.loads(as_json.stdout)] == ["refused", "accepted", "refused"]


def test_a_bar_makes_room_for_a_line() -> None:
    """On one terminal: the bar is wiped before the line, which then stands alone, and drawn again below it."""
    script = (
        "from simlab.lab.pace import Snapshot\n"
        "from simlab.cli._progress import Display\n"
        "shot = Snapshot(points=2, done=1, failed=0, elapsed=1.0, rate=1.0, remaining=1.0, running=[])\n"
        "with Display(quiet=False) as display:\n"
        "    display.head = lambda: ('relu_decay', 0, 3, 'claim 1 of 3')\n"
        "    display(shot)\n"
        "    display.print('a line of data')\n"
        "    display(shot)\n"
    )
    seen, code = terminal.shown(["-c", script], ("stdout", "stderr"), {})
    assert code == 0
    before, line, after = seen.partition("a line of data\r\n")
    assert line
    assert re.search(r"claim 1 of 3.*\x1b\[2K(\x1b\[\?25h)?$", before, re.DOTALL), "the last thing before it: wiped"
    assert "claim 1 of 3" in after
