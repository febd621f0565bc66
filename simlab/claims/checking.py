"""The contract check of a claim: all that can be said without running its specs.

>>> claims.check(claims.get("tangent_rate"))

The judge and the figure are shown results that are made up at random (`simlab.figures.synthetic`): such numbers are no
evidence, and a judge that accepts them would accept anything.
"""

from __future__ import annotations

import inspect
import json
import tomllib

from simlab.claims.claim import SHORT_COLUMNS, Claim, Judgement
from simlab.core import parsing
from simlab.core.checking import check_value, ensure
from simlab.core.errors import BadInput
from simlab.record.reader import Results

TEXTS = ("statement", "source", "expected", "quick", "full", "__doc__")


def check(claim: Claim) -> None:
    """Raise AssertionError, with one line that says what is wrong, unless the claim keeps the contract."""
    check_value(claim, Claim)
    about = f"claim {claim.kind}"
    for name in TEXTS:
        text = inspect.getdoc(claim) if name == "__doc__" else vars(type(claim)).get(name)
        ensure(isinstance(text, str) and bool(text.strip()), f"{about}: {name} must be a text that is not blank")
    settings = isinstance(claim.control, tuple) and all(isinstance(one, str) and "=" in one for one in claim.control)
    ensure(settings and bool(claim.control), f'{about}: control must be a tuple of settings, "key=value"')
    ensure(not parsing.dump(claim), f"{about}: a claim has no fields")
    needed = claim.data_needed()
    ensure(needed is None or bool(needed.strip()), f"{about}: data_needed must be a sentence or None")
    _check_specs(claim, about)
    _check_judge(claim, about)
    _check_figure(claim, about)


def _check_specs(claim: Claim, about: str) -> None:
    """All four resolve and differ; the control changes keys that the specs understand."""
    from simlab.claims.ledger import spec_of

    hashes: dict[str, str] = {}
    for size in ("quick", "full"):
        try:
            tomllib.loads(claim.quick if size == "quick" else claim.full)
            for control in (False, True):
                name = f"{size} spec" + (" with the control's settings" if control else "")
                found = spec_of(claim, size, control).hash
                same = next((other for other, known in hashes.items() if known == found), None)
                ensure(same is None, f"{about}: its {name} is the same as its {same}")
                hashes[name] = found
        except (tomllib.TOMLDecodeError, BadInput) as error:
            raise AssertionError(f"{about}: its {size} spec is refused: {error}") from None


def _check_judge(claim: Claim, about: str) -> None:
    """It refuses made-up numbers, says why in few columns, gives numbers ready for JSON, and the same verdict twice."""
    results = _synthetic(claim, control=False)
    judgement = claim.judge(results)
    ensure(isinstance(judgement, Judgement), f"{about}: judge must return a Judgement")
    ensure(judgement.holds is False, f"{about}: its judge accepts results that are made up (holds={judgement.holds})")
    ensure(bool(judgement.measured.strip()), f"{about}: its judge does not say what was measured")
    short = judgement.short
    ensure(0 < len(short) <= SHORT_COLUMNS, f"{about}: short must have 1 to {SHORT_COLUMNS} columns: {short!r}")
    try:
        json.dumps(judgement.numbers)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{about}: numbers of its judgement are not ready for JSON: {error}") from None
    ensure(repr(claim.judge(results)) == repr(judgement), f"{about}: its judge says something else the second time")


def _check_figure(claim: Claim, about: str) -> None:
    """It is drawn from both results, readable, and the control is named and told apart by more than colour."""
    from simlab.figures.looks import check_looks, labelled, marks, texts

    picture = claim.figure(_synthetic(claim, control=False), _synthetic(claim, control=True))
    try:
        check_looks(picture)
    except AssertionError as error:
        raise AssertionError(f"{about}: figure: {error}") from None
    words = [text.get_text() for text in texts(picture)]
    words += [label for axis in picture.axes for label, _ in labelled(axis)]
    ensure(any("control" in text for text in words), f"{about}: its figure does not name the control")
    for axis in picture.axes:
        sides: dict[bool, set[object]] = {True: set(), False: set()}
        for label, line in labelled(axis):
            sides[label.startswith("control")].add(marks(line))
        same = sides[True] & sides[False]
        ensure(not same, f"{about}: figure, panel {axis.get_title()!r}: control and claim differ in colour alone")


def _synthetic(claim: Claim, control: bool) -> Results:
    from simlab.claims.ledger import spec_of
    from simlab.figures.synthetic import SyntheticResults

    return SyntheticResults(spec_of(claim, "quick", control))
