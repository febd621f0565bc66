"""The ledger: measure a claim and its control, judge both, draw them, and keep it all.

``OUT/<quick|full>/<claim>/`` holds measured/ and control/ (run directories, so a stopped ledger goes on where it was),
figure.png (or .pdf, .svg) and verdict.json with every number; ``OUT/<quick|full>/ledger.json`` the verdicts of all,
written anew after each claim.

A claim that cannot be run here (its `data_needed` gives a sentence) is judged null: neither true nor false. What an
earlier run measured of it, with the data, stays in verdict.json and ledger.json; only the rows returned say "not run".
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from simlab.claims.claim import Claim, Judgement
from simlab.core.errors import BadInput
from simlab.core.formats import FigureFormat
from simlab.figures.style import save
from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.pace import Snapshot
from simlab.lab.run import run_spec
from simlab.lab.spec import Spec, override, resolve
from simlab.record.atomic import committing
from simlab.record.reader import Results

Size = Literal["quick", "full"]
CONTROL_WORDS = {True: "accepted", False: "refused", None: None}


@dataclass(frozen=True)
class Verdict:
    """One claim as it was judged now.

    row: what the ledger keeps of it.
    short: the figure that decides, of the control where that one was wrongly accepted.
    seconds: how long it took; None: not run.
    computed: whether something was measured, and not only read from an earlier run.
    """

    row: dict[str, Any]
    short: str
    seconds: float | None
    computed: bool


@dataclass(frozen=True)
class Listener:
    """What is called while claims are measured.

    begin: with the name of a claim, before it is measured.
    judged: with its verdict, as soon as it is there.
    progress: with how far the run under way is, now and then.
    say: with a remark of the run under way.
    """

    begin: Callable[[str], None] = lambda name: None
    judged: Callable[[Verdict], None] = lambda verdict: None
    progress: Callable[[Snapshot], None] = lambda snapshot: None
    say: Callable[[str], None] = lambda line: None


def spec_of(claim: Claim, size: Size, control: bool = False) -> Spec:
    """The quick or full spec of a claim, or of its control."""
    tables = tomllib.loads(claim.quick if size == "quick" else claim.full)
    return resolve(override(tables, claim.control if control else ()))


def reproduce(
    claims: Iterable[Claim],
    size: Size,
    out: Path,
    *,
    workers: int | None = None,
    overwrite: bool = False,
    figure_format: FigureFormat = "png",
    listener: Listener = Listener(),
) -> list[dict[str, Any]]:
    """Measure and judge claims; one row each: claim, source, statement, expected, measured, holds, control.

    `holds` is true, false or None (not run), `control` "refused", "accepted" or None.

    size: which spec of each claim.
    out: directory of the ledger.
    workers: processes that compute; None: as many as there are cores.
    overwrite: measure anew what was measured earlier.
    figure_format: of the claims' figures.
    listener: told what happens.
    """
    ledger = out / size / "ledger.json"
    read_ledger(ledger)  # a bad one is said before the work, not after it
    rows = []
    for claim in claims:
        home = out / size / claim.kind
        listener.begin(claim.kind)
        if why := claim.data_needed():
            note = "; the verdict measured earlier is kept" if _is_measured(home / "verdict.json") else ""
            nothing = Judgement(None, f"not run: {why}{note}", {})
            verdict = Verdict(_write_verdict(home, claim, nothing, nothing), "", None, False)
        else:
            verdict = _measure(home, claim, size, workers, overwrite, figure_format, listener)
        rows.append(verdict.row)
        _write_json(ledger, _with_earlier(ledger, rows))
        listener.judged(verdict)
    return rows


def _measure(
    home: Path,
    claim: Claim,
    size: Size,
    workers: int | None,
    overwrite: bool,
    figure_format: FigureFormat,
    listener: Listener,
) -> Verdict:
    """Run a claim and its control, judge and draw them."""
    results, judgements, computed = {}, {}, False
    began = time.monotonic()
    for side in ("measured", "control"):
        spec = spec_of(claim, size, control=side == "control")
        run = RunDirectory(home / side)
        computed |= overwrite or not run.is_collated(spec)

        def remark(line: str, about: str = f"{run.path}: ") -> None:
            if not line.startswith(about):  # how many points there are to do: the ledger counts claims
                listener.say(line)

        options = RunOptions(workers=workers, overwrite=overwrite)
        outcome = run_spec(spec, run.path, options, progress=listener.progress, say=remark)
        results[side] = Results(outcome.results)
        if outcome.failed:
            point, error = next(iter(outcome.failed.items()))
            text = f"{len(outcome.failed)} of {outcome.points} points failed: {spec.sweep.label(point)}: {error}"
            judgements[side] = Judgement(False, text, {}, text.partition(":")[0])
        else:
            judgements[side] = claim.judge(results[side])
    if all(judgement.numbers for judgement in judgements.values()):
        save(claim.figure(results["measured"], results["control"]), home / f"figure.{figure_format}")
    measured, control = judgements["measured"], judgements["control"]
    row = _write_verdict(home, claim, measured, control)
    wrong = control if measured.holds and control.holds else measured
    return Verdict(row, wrong.short or wrong.measured, time.monotonic() - began, computed)


def _write_verdict(home: Path, claim: Claim, measured: Judgement, control: Judgement) -> dict[str, Any]:
    """The row of a claim, with its numbers in verdict.json; a measured verdict is never replaced by "not run"."""
    row = {
        "claim": claim.kind,
        "source": claim.source,
        "statement": claim.statement,
        "expected": claim.expected,
        "measured": measured.measured,
        "holds": measured.holds,
        "control": CONTROL_WORDS[control.holds],
    }
    detail = {
        "short": measured.short,
        "numbers": measured.numbers,
        "control_measured": control.measured,
        "control_numbers": control.numbers,
    }
    if row["holds"] is not None or not _is_measured(home / "verdict.json"):
        with RunDirectory(home).usable():
            home.mkdir(parents=True, exist_ok=True)
        _write_json(home / "verdict.json", row | detail)
    return row


def _is_measured(path: Path) -> bool:
    try:
        return json.loads(path.read_text(encoding="utf-8"))["holds"] is not None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False


def passed(row: dict[str, Any]) -> bool:
    """A claim judged true with its control refused; one that could not be run does not count against it."""
    return row["holds"] is None or (row["holds"] is True and row["control"] == "refused")


def tally(rows: list[dict[str, Any]]) -> str:
    """``11 of 12 claims hold, 1 not run``"""
    absent = sum(row["holds"] is None for row in rows)
    held = sum(map(passed, rows)) - absent
    return f"{held} of {len(rows)} claims hold" + (f", {absent} not run" if absent else "")


def _with_earlier(path: Path, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of claims not asked for this time stay in the ledger, and those measured where this time none was."""
    merged = {row["claim"]: row for row in read_ledger(path)}
    for row in rows:
        if row["holds"] is not None or merged.get(row["claim"], row).get("holds") is None:
            merged[row["claim"]] = row
    return sorted(merged.values(), key=lambda row: str(row["claim"]))


def read_ledger(path: Path) -> list[dict[str, Any]]:
    """The rows of a ledger.json; none where there is no file."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        return [as_written_now(row) for row in rows if row["claim"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadInput(f"{path}: not a ledger of simlab; move it away to go on") from None


def as_written_now(row: dict[str, Any]) -> dict[str, Any]:
    """A row or a verdict as it is written today: `control` used to be true or false, whether the control held.

    ValueError, TypeError or KeyError where it is neither.
    """
    control = row.get("control")
    row = row | {"control": CONTROL_WORDS[control] if isinstance(control, bool) else control}
    texts = isinstance(row["claim"], str) and isinstance(row["measured"], str)
    judged = row["holds"] is None or isinstance(row["holds"], bool)
    if not (texts and judged and row["control"] in (None, "refused", "accepted")):
        raise ValueError("not a verdict")
    return row


def _write_json(path: Path, value: Any) -> None:
    with committing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
